/** The value of an option of the command line, as `--rounds=5`. */
export function option(
  name:
    | 'batch'
    | 'columns'
    | 'count'
    | 'engine'
    | 'in-flight'
    | 'kills'
    | 'load'
    | 'minutes'
    | 'only'
    | 'postgres-cores'
    | 'rate'
    | 'response'
    | 'rounds'
    | 'scale'
    | 'seed'
    | 'times',
): string | undefined {
  const start = `--${name}=`;
  return process.argv.find((argument) => argument.startsWith(start))?.slice(start.length);
}
