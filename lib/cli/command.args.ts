import { parseArgs, type ParseArgsConfig } from 'node:util';

type ParsedArgs<T extends ParseArgsConfig> = ReturnType<typeof parseArgs<T>>;

/**
 * The options and arguments of a command.
 * @throws {Error} that names the command, what is wrong, and how to get help; never the value of an option or of a URL
 */
export function parseCommandArgs<T extends ParseArgsConfig>(command: string, config: T): ParsedArgs<T> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(command, explain(error as NodeJS.ErrnoException));
  }
}

/** Wrong arguments of a command. */
export class UsageError extends Error {
  constructor(command: string, fault: string) {
    super(`${command}: ${fault}\nSee: nestjs-analytics-relay ${command} --help`);
    this.name = 'UsageError';
  }
}

/** An option that is a whole number. */
export function toCount(command: string, option: string, value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) {
    throw new UsageError(command, `--${option} must be a whole number from 1 to 999,999,999`);
  }
  return Number(value);
}

function explain({ code, message }: NodeJS.ErrnoException): string {
  const [, quoted = ''] = /'([^']*)'/.exec(message) ?? [];
  const subject = withoutSecrets(quoted);
  switch (code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION':
      return `unknown option ${subject}`;
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
      return `unexpected argument ${JSON.stringify(subject)}`;
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      return message.includes('does not take') ? `${subject} takes no value` : `${subject.split(' ')[0]} needs a value`;
    default:
      return 'the arguments cannot be read';
  }
}

/** A URL may hold a password. */
function withoutSecrets(text: string): string {
  return text.replace(/:\/\/.*/s, '://…').replace(/=.*/s, '');
}
