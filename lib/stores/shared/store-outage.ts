import { errorMessage } from '../../client/error.util.js';
import { LineLogger } from '../../common/line.logger.js';

/** Logs one line when a store becomes unavailable and one when it is available again. */
export class StoreOutage {
  private since: number | undefined;

  private readonly logger: LineLogger;

  constructor(
    private readonly store: string,
    queue: string,
  ) {
    this.logger = new LineLogger(queue);
  }

  begin(error: unknown): void {
    if (this.since !== undefined) return;
    this.since = Date.now();
    this.logger.error(`${this.store} is unavailable, trying again: ${errorMessage(error)}`);
  }

  end(): void {
    if (this.since === undefined) return;
    this.logger.log(`${this.store} is available again after ${((Date.now() - this.since) / 1_000).toFixed(1)} s`);
    this.since = undefined;
  }
}
