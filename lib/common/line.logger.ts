import { Logger } from '@nestjs/common';

import { toPrintable } from './printable.util.js';

/**
 * Nest's logger for all of the package: each call writes one line, whatever is in it. Ids, names and errors come from
 * outside, and must neither forge a line nor hide a part of one.
 */
export class LineLogger {
  private readonly logger: Logger;

  constructor(subject: string) {
    this.logger = new Logger(toPrintable(subject));
  }

  log(line: string): void {
    this.logger.log(toPrintable(line));
  }

  warn(line: string): void {
    this.logger.warn(toPrintable(line));
  }

  error(line: string): void {
    this.logger.error(toPrintable(line));
  }

  debug(line: string): void {
    this.logger.debug(toPrintable(line));
  }
}
