import type { LineLogger } from './line.logger.js';

/** Lines that are written in one period, at most. */
const MAX_LINES = 20;

/** Length of a period, in ms. */
const PERIOD = 10_000;

/** Writes log lines to a bound, and then how many more there were: what fails again and again must not flood the log. */
export class LogLimiter {
  private lines = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly logger: LineLogger) {}

  write(level: 'warn' | 'error', line: string): void {
    this.timer ??= setTimeout(() => this.end(), PERIOD).unref();
    if (++this.lines <= MAX_LINES) this.logger[level](line);
  }

  /** Ends the period. */
  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.lines > MAX_LINES) this.logger.warn(`${this.lines - MAX_LINES} more lines like these were left out`);
    this.lines = 0;
  }
}
