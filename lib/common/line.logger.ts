import { ConsoleLogger, Logger } from '@nestjs/common';

import { toPrintable } from './printable.util.js';

/** What a line is about, for loggers that write objects; a field without a value is left out. */
export type LogFields = Readonly<Record<string, string | number | undefined>>;

/**
 * Whether the loggers of this version of Nest keep a line and its fields together: those of version 11 write a line of its
 * own for the fields. `nestjs-pino` looks at the same method, as Nest exposes no version.
 */
const keepsFields = 'stringifyParams' in ConsoleLogger.prototype;

/**
 * Nest's logger for all of the package: each call writes one line, whatever is in it. Ids, names and errors come from
 * outside, and must neither forge a line nor hide a part of one.
 */
export class LineLogger {
  private readonly logger: Logger;

  constructor(subject: string) {
    this.logger = new Logger(toPrintable(subject));
  }

  log(line: string, fields?: LogFields): void {
    this.logger.log(toPrintable(line), ...toParams(fields));
  }

  warn(line: string, fields?: LogFields): void {
    this.logger.warn(toPrintable(line), ...toParams(fields));
  }

  error(line: string, fields?: LogFields): void {
    this.logger.error(toPrintable(line), ...toParams(fields));
  }

  debug(line: string): void {
    this.logger.debug(toPrintable(line));
  }
}

function toParams(fields: LogFields | undefined): object[] {
  if (!fields || !keepsFields) return [];
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return [
    Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? toPrintable(value) : value])),
  ];
}
