import { setTimeout as sleep } from 'node:timers/promises';

import { errorMessage } from '../../../common/error.util.js';

/** First wait before a store is opened again, and the longest, in ms. */
const FIRST_DELAY = 100;
const LONGEST_DELAY = 30_000;

/** How long a store must have been open, in ms, for the waits to begin anew. */
const STABLE_TIME = 60_000;

/** Opens a store again that has failed, after waits that double until it stays open. */
export class StoreReopening {
  private delay = FIRST_DELAY;
  private openedAt = -Infinity;
  private stopping = new AbortController();
  private running: Promise<void> | undefined;

  /**
   * @param open rejects when the store cannot be opened
   * @param onFailure called when that failed for another reason than before
   */
  constructor(
    private readonly open: () => Promise<void>,
    private readonly onFailure: (reason: string) => void,
  ) {}

  start(): void {
    if (performance.now() - this.openedAt > STABLE_TIME) this.delay = FIRST_DELAY;
    this.running ??= this.run(this.stopping.signal).finally(() => (this.running = undefined));
  }

  /** Ends it; an opening that is under way is waited for. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    this.stopping = new AbortController();
  }

  private async run(signal: AbortSignal): Promise<void> {
    let lastReason: string | undefined;
    while (!signal.aborted) {
      await sleep(this.delay, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.delay = Math.min(this.delay * 2, LONGEST_DELAY);
      try {
        await this.open();
        this.openedAt = performance.now();
        return;
      } catch (error) {
        const reason = errorMessage(error);
        if (reason !== lastReason) this.onFailure(reason);
        lastReason = reason;
      }
    }
  }
}
