import { ConsoleLogger, Logger } from '@nestjs/common';

import { toPrintable } from '../client/printable.util.js';

/** Fields of a line, for loggers that write objects. Fields without a value are omitted. */
export type LogFields = Readonly<Record<string, string | number | undefined>>;

/**
 * Whether the loggers of this version of Nest keep a line and its fields together. Those of version 11 write the fields
 * on a line of their own. `nestjs-pino` checks the same method, because Nest exposes no version.
 */
const keepsFields = 'stringifyParams' in ConsoleLogger.prototype;

/**
 * Nest's logger for the whole package: each call writes exactly one line. Ids, names and errors come from outside, and
 * must neither forge a line nor hide part of one.
 */
export class LineLogger {
  constructor(private readonly subject: string) {}

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

  /** Created for each line, because thousands of destinations have several loggers, of which few ever write. */
  private get logger(): Logger {
    return new Logger(toPrintable(this.subject));
  }
}

function toParams(fields: LogFields | undefined): object[] {
  if (!fields || !keepsFields) return [];
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return [
    Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? toPrintable(value) : value])),
  ];
}
