import { LineLogger, type LogFields } from './line.logger.js';

/** Maximum number of lines in one period. */
const MAX_LINES = 20;

/** Length of a period, in ms. */
const PERIOD = 10_000;

/** Maximum number of distinct lines that `once` writes as warnings. */
const MAX_DISTINCT = 100;

/** A logger that limits lines which may repeat with every request or attempt. */
export class LimitedLogger extends LineLogger {
  private lines = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Created on first use, because a destination has several loggers. */
  private written: Set<string> | undefined;
  private isFailing = false;

  /** Writes at most 20 lines in 10 s, then the number of omitted lines. */
  limited(level: 'warn' | 'error', line: string, fields?: LogFields): void {
    this.timer ??= setTimeout(() => this.end(), PERIOD).unref();
    if (++this.lines <= MAX_LINES) this[level](line, fields);
  }

  /** Warns once about each distinct line, for up to 100 lines; all others are debug lines. */
  once(line: string): void {
    const written = (this.written ??= new Set());
    if (written.has(line) || written.size >= MAX_DISTINCT) return this.debug(line);
    written.add(line);
    this.warn(line);
  }

  /** Writes an error only for the first of consecutive failures. */
  failed(line: string, fields?: LogFields): void {
    if (!this.isFailing) this.error(line, fields);
    this.isFailing = true;
  }

  /** Ends a run of failures. */
  succeeded(): void {
    this.isFailing = false;
  }

  /** Ends the period of `limited`. */
  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.lines > MAX_LINES) this.warn(`Similar lines suppressed: ${this.lines - MAX_LINES}`);
    this.lines = 0;
  }
}
