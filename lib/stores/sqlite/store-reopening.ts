import { setTimeout as sleep } from 'node:timers/promises';

import { errorMessage } from '../../client/error.util.js';

/** First wait before a store is reopened, and the longest wait, in ms. */
const FIRST_DELAY = 100;
const LONGEST_DELAY = 30_000;

/** How long a store must stay open before waits start again from the first, in ms. */
const STABLE_TIME = 60_000;

/** Reopens a store that has failed, after waits that double until it stays open. */
export class StoreReopening {
  private delay = FIRST_DELAY;
  private openedAt = -Infinity;
  private stopping = new AbortController();
  private running: Promise<void> | undefined;

  /**
   * @param open rejects when the store cannot be opened
   * @param onFailure called when that fails for another reason than before
   */
  constructor(
    private readonly open: () => Promise<void>,
    private readonly onFailure: (reason: string) => void,
  ) {}

  start(): void {
    if (performance.now() - this.openedAt > STABLE_TIME) this.delay = FIRST_DELAY;
    this.running ??= this.run(this.stopping.signal).finally(() => (this.running = undefined));
  }

  /** Stops reopening, and waits for an attempt in progress. */
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
