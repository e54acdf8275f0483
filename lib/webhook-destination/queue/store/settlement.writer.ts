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
  onEnd: () => void;
  resolve: (settled: boolean) => void;
  reject: (error: Error) => void;
  /** Whether a write failed that may have recorded the settlement all the same. */
  isInDoubt: boolean;
}

/**
 * Writes settlements in groups: those that arrive during a write form the next group.
 * A failed write is retried, because a delivery without a recorded outcome would be sent again.
 */
export class SettlementWriter {
  private readonly logger = new LimitedLogger('DeliveryQueue');
  private readonly closing = new AbortController();
  private attempted: Entry[] = [];
  /** Without an attempt. */
  private readonly returned = new Fifo<Entry>();
  private writing: Promise<void> | undefined;

  /** @param now the queue's time, in ms since the epoch */
  constructor(
    private readonly store: DeliveryStore,
    private readonly now: () => number,
  ) {}

  /**
   * Writes a settlement. Resolves once durable, with whether the delivery was leased; rejects when the queue closes.
   * @param onEnd called before either
   */
  write(settlement: Settlement, onEnd: () => void): Promise<boolean> {
    if (this.closing.signal.aborted) {
      onEnd();
      return Promise.reject(new ClosedError('the queue is closed, and the lease ended with it'));
    }
    return new Promise((resolve, reject) => {
      const list = settlement.outcome?.attempt ? this.attempted : this.returned;
      list.push({ settlement, onEnd, resolve, reject, isInDoubt: false });
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
    for (let group = this.takeGroup(); group.length > 0; group = this.takeGroup()) await this.record(group);
    this.writing = undefined;
  }

  private async record(group: Entry[]): Promise<void> {
    for (;;) {
      try {
        const settled = await this.store.settle(
          group.map(({ settlement }) => settlement),
          this.now(),
        );
        this.logger.succeeded();
        group.forEach(({ onEnd, resolve, isInDoubt }, index) => {
          onEnd();
          resolve(settled[index]! || isInDoubt);
        });
        return;
      } catch (error) {
        if (this.closing.signal.aborted) {
          for (const { onEnd, reject } of group) {
            onEnd();
            reject(error as Error);
          }
          return;
        }
        this.logger.failed(`Outcomes could not be recorded, trying again: ${errorMessage(error)}`);
        for (const entry of group) entry.isInDoubt = true;
        await sleep(RETRY_DELAY, undefined, { ref: false, signal: this.closing.signal }).catch(() => undefined);
      }
    }
  }

  private takeGroup(): Entry[] {
    const group = this.attempted;
    this.attempted = [];
    const most = this.closing.signal.aborted ? Infinity : MAX_WITHOUT_ATTEMPT;
    for (let count = 0; count < most && this.returned.length > 0; count++) group.push(this.returned.shift()!);
    return group;
  }
}
