import { errorMessage } from '../../../common/error.util.js';
import type { LineLogger } from '../../../common/line.logger.js';

/** Logs that a store is away, and that it is back: one line each, whatever the number of errors between. */
export class StoreOutage {
  private since: number | undefined;

  constructor(
    private readonly store: string,
    private readonly logger: LineLogger,
  ) {}

  begin(error: unknown): void {
    if (this.since !== undefined) return;
    this.since = Date.now();
    this.logger.error(`${this.store} is away, trying again: ${errorMessage(error)}`);
  }

  end(): void {
    if (this.since === undefined) return;
    this.logger.log(`${this.store} is back after ${((Date.now() - this.since) / 1_000).toFixed(1)} s`);
    this.since = undefined;
  }
}
