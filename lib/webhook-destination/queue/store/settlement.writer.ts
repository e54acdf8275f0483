import { setTimeout as sleep } from 'node:timers/promises';

import { errorMessage } from '../../../common/error.util.js';
import { LimitedLogger } from '../../../common/limited.logger.js';
import { ClosedError } from '../../../common/relay.errors.js';
import type { DeliveryStore, Settlement } from './delivery-store.interface.js';

/** How long a store that could not write is left alone, in ms. */
const RETRY_DELAY = 1_000;

/**
 * Most deliveries of one group that had no attempt: when a destination goes down, all that was ready for it is given
 * back at once, and what others have accepted or delivered would wait for a long commit.
 */
const MAX_WITHOUT_ATTEMPT = 8;

interface Entry {
  settlement: Settlement;
  onEnd: () => void;
  resolve: (settled: boolean) => void;
  reject: (error: Error) => void;
  /** Whether the store failed to answer: it may have been recorded all the same. */
  isInDoubt: boolean;
}

/**
 * Writes settlements in groups: what ends while one group is being written goes with the next.
 * An outcome that is not recorded would send its delivery once more, so a store that fails is waited for.
 */
export class SettlementWriter {
  private readonly logger = new LimitedLogger('DeliveryQueue');
  private readonly closing = new AbortController();
  private group: Entry[] = [];
  private writing: Promise<void> | undefined;

  /** @param now the queue's time, in ms since the epoch */
  constructor(
    private readonly store: DeliveryStore,
    private readonly now: () => number,
  ) {}

  /**
   * Resolves, once durable, with whether the delivery was leased; rejects when the queue closes before that.
   * @param onEnd called before either
   */
  write(settlement: Settlement, onEnd: () => void): Promise<boolean> {
    if (this.closing.signal.aborted) {
      onEnd();
      return Promise.reject(new ClosedError('the queue is closed, and the lease ended with it'));
    }
    return new Promise((resolve, reject) => {
      this.group.push({ settlement, onEnd, resolve, reject, isInDoubt: false });
      this.writing ??= this.run();
    });
  }

  /** Writes what is left, gives up what the store does not take, and takes no more: another lease may be out by then. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.writing;
  }

  private async run(): Promise<void> {
    await Promise.resolve(); // whatever ends in the same turn goes with the first group
    while (this.group.length > 0) {
      const entries = this.takeGroup();
      try {
        const settlements = entries.map(({ settlement }) => settlement);
        const settled = await this.store.settle(settlements, this.now());
        this.logger.succeeded();
        entries.forEach(({ onEnd, resolve, isInDoubt }, index) => {
          onEnd();
          resolve(settled[index]! || isInDoubt);
        });
      } catch (error) {
        if (this.closing.signal.aborted) {
          for (const { onEnd, reject } of entries) {
            onEnd();
            reject(error as Error);
          }
          continue;
        }
        this.logger.failed(`Outcomes could not be recorded, trying again: ${errorMessage(error)}`);
        for (const entry of entries) entry.isInDoubt = true;
        this.group.unshift(...entries);
        await sleep(RETRY_DELAY, undefined, { ref: false, signal: this.closing.signal }).catch(() => undefined);
      }
    }
    this.writing = undefined;
  }

  private takeGroup(): Entry[] {
    const taken: Entry[] = [];
    const left: Entry[] = [];
    let room = this.closing.signal.aborted ? Infinity : MAX_WITHOUT_ATTEMPT;
    for (const entry of this.group) {
      const { outcome } = entry.settlement;
      (outcome?.attempt || room-- > 0 ? taken : left).push(entry);
    }
    this.group = left;
    return taken;
  }
}
