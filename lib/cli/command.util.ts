import { parseArgs, type ParseArgsConfig } from 'node:util';

import { HIDDEN } from '../client/printable.util.js';
import { OptionsError } from '../common/options.error.js';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

export interface Command {
  usage: string;
  /**
   * Runs the command and resolves with its exit code.
   * @throws {OptionsError} that names the invalid argument, never the value of an option or of a URL
   * @throws {RelayError} that names the file or the store that failed
   */
  run: (args: string[]) => Promise<number>;
}

/**
 * Defines a command that parses its arguments according to `options`, then runs. Its exit code is 0 if `run` resolves
 * without one.
 */
export function defineCommand<const T extends Options>({
  usage,
  options,
  allowPositionals = false,
  run,
}: Omit<Command, 'run'> & {
  options: T;
  allowPositionals?: boolean;
  run: (values: Values<T>, positionals: string[]) => Promise<number | void>;
}): Command {
  return {
    usage,
    run: async (args) => {
      const { values, positionals } = parse({ args, options, allowPositionals });
      return (await run(values as Values<T>, positionals)) ?? 0;
    },
  };
}

function parse(config: ParseArgsConfig) {
  const parsed = parseOrExplain(config);
  // Such as that of a variable of the shell that is not set.
  const empty = Object.entries(parsed.values).find(([, value]) => value === '');
  if (empty) throw argumentFault(`--${empty[0]} needs a value`);
  return parsed;
}

function parseOrExplain(config: ParseArgsConfig) {
  try {
    return parseArgs(config);
  } catch (error) {
    throw argumentFault(explain(error as NodeJS.ErrnoException));
  }
}

export function argumentFault(fault: string): OptionsError {
  return new OptionsError('nestjs-analytics-relay', [fault]);
}

/** Returns a number and its noun, in the singular or the plural. */
export function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function printRows<T>(rows: T[], isJson: boolean | undefined, toTable: (rows: T[]) => string): void {
  process.stdout.write(isJson ? toJson(rows) : toTable(rows));
}

/** Returns indented JSON in which {@link HIDDEN} characters are escaped: it may be read in a terminal. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(HIDDEN, (found) => (found === '\n' ? found : toEscape(found)))}\n`;
}

/** Escapes each UTF-16 code unit, because JSON has no `\u{…}`. */
function toEscape(text: string): string {
  return text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Prints text on standard error, without user info and queries of URLs: they may contain passwords. */
export function printError(text: string): void {
  process.stderr.write(text.replace(/(:\/\/)\S*@/g, '$1…@').replace(/(:\/\/[^\s?]*\?)\S*/g, '$1…'));
}

function explain({ code, message }: NodeJS.ErrnoException): string {
  const [, quoted = ''] = /'([^']*)'/.exec(message) ?? [];
  // Without the rest of a URL: if the message quotes only part of it, `printError` does not recognise the password.
  const subject = quoted.replace(/:\/\/.*/s, '://…').replace(/=.*/s, '');
  switch (code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION':
      return `unknown option ${subject}`;
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
      return `unexpected argument ${JSON.stringify(subject)}`;
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      return message.includes('does not take') ? `${subject} takes no value` : `${subject.split(' ')[0]} needs a value`;
    default:
      return 'invalid arguments';
  }
}
