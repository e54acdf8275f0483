/** The value of an option of the command line, as `--rounds=5`. */
export function option(
  name: 'batch' | 'columns' | 'count' | 'engine' | 'kills' | 'minutes' | 'only' | 'rate' | 'rounds' | 'seed' | 'times',
): string | undefined {
  const start = `--${name}=`;
  return process.argv.find((argument) => argument.startsWith(start))?.slice(start.length);
}
