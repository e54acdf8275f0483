import { setImmediate as turnEnd, setTimeout as sleep } from 'node:timers/promises';

import { Fifo } from '../../../client/delivery/fifo.js';
import { errorMessage } from '../../../client/error.util.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import { ClosedError } from '../../../common/relay.errors.js';
import type { DeliveryStore, Settlement } from './delivery-store.interface.js';

/** Wait after a failed write to the store, in ms. */
const RETRY_DELAY = 1_000;

/**
 * Maximum number of deliveries without an attempt in one group. When a destination goes down, all its ready deliveries
 * are returned at once; without a limit, deliveries of other destinations would wait for a long commit.
 */
const MAX_WITHOUT_ATTEMPT = 8;

interface Entry {
  settlement: Settlement;
  onEnd: (isInDoubt: boolean) => void;
  resolve: (settled: boolean) => void;
  reject: (error: Error) => void;
}

/**
 * Writes settlements in groups: those that arrive during a write form the next group.
 * A failed write is retried, because a delivery without a recorded outcome would be sent again.
 */
export class SettlementWriter {
  private readonly logger = new LimitedLogger('DeliveryQueue');
  private readonly closing = new AbortController();
  /** The next group, but for the deliveries without an attempt. */
  private group: Entry[] = [];
  /** Deliveries without an attempt. */
  private readonly returned = new Fifo<Entry>();
  private writing: Promise<void> | undefined;

  /** @param now the queue's time, in ms since the epoch */
  constructor(
    private readonly store: DeliveryStore,
    private readonly now: () => number,
  ) {}

  /**
   * Writes a settlement. Resolves once durable, with whether the delivery was leased; rejects when the queue closes.
   * @param onEnd called before either, with whether an earlier write may have recorded it, too
   */
  write(settlement: Omit<Settlement, 'isInDoubt'>, onEnd: (isInDoubt: boolean) => void): Promise<boolean> {
    if (this.closing.signal.aborted) {
      onEnd(false);
      return Promise.reject(new ClosedError('the queue is closed, and the lease ended with it'));
    }
    return new Promise((resolve, reject) => {
      const entries = settlement.outcome?.attempt ? this.group : this.returned;
      entries.push({ settlement: { ...settlement, isInDoubt: false }, onEnd, resolve, reject });
      this.writing ??= this.run();
    });
  }

  /** Writes the remaining settlements once, without retries. Rejects later ones: another lease may exist by then. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.writing;
  }

  private async run(): Promise<void> {
    await turnEnd(); // settlements made in the same turn of the event loop join the first group
    for (let entries = this.takeGroup(); entries.length > 0; entries = this.takeGroup()) {
      const failed = new Map<Entry, Error>();
      try {
        const settled = await this.store.settle(
          entries.map(({ settlement }) => settlement),
          this.now(),
        );
        entries.forEach((entry, index) => {
          const result = settled[index]!;
          if (result instanceof Error) {
            failed.set(entry, result);
          } else {
            entry.onEnd(entry.settlement.isInDoubt);
            entry.resolve(result);
          }
        });
      } catch (error) {
        for (const entry of entries) failed.set(entry, error as Error);
      }
      const [error] = failed.values();
      if (!error) this.logger.succeeded();
      else if (this.closing.signal.aborted) this.rejectAll(failed);
      else await this.retry(failed, error);
    }
    this.writing = undefined;
  }

  private rejectAll(failed: Map<Entry, Error>): void {
    for (const [{ settlement, onEnd, reject }, error] of failed) {
      onEnd(settlement.isInDoubt);
      reject(error);
    }
  }

  /** Puts entries first in the next group, after a wait. */
  private async retry(failed: Map<Entry, Error>, error: Error): Promise<void> {
    this.logger.failed(`Outcomes could not be recorded, trying again: ${errorMessage(error)}`);
    for (const { settlement } of failed.keys()) settlement.isInDoubt = true;
    this.group = [...failed.keys(), ...this.group];
    await sleep(RETRY_DELAY, undefined, { ref: false, signal: this.closing.signal }).catch(() => undefined);
  }

  private takeGroup(): Entry[] {
    const { group, returned } = this;
    this.group = [];
    const most = this.closing.signal.aborted ? Infinity : MAX_WITHOUT_ATTEMPT;
    for (let count = 0; count < most && returned.length > 0; count++) group.push(returned.shift()!);
    return group;
  }
}
