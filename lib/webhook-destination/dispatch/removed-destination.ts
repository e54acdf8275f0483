import { setTimeout as sleep } from 'node:timers/promises';

import { fromEvent, lastValueFrom, mergeMap, takeUntil } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import type { OutcomeReporter } from './outcome.reporter.js';

/** Why the deliveries are dead. */
const REMOVED = 'destination removed';

/** Number of deliveries ended concurrently. */
const CONCURRENCY = 64;

/** Wait after a failure of the queue, in ms. */
const RETRY_DELAY = 1_000;

/** Ends the deliveries of a destination that was removed: they become dead. */
export class RemovedDestination {
  private readonly logger = new LimitedLogger('WebhookDispatcher');
  private readonly stopping = new AbortController();
  /** Whether more deliveries may have become due since the last search began. */
  private isPassRequested = true;
  /** Whether deliveries may wait for a retry. */
  private mayWait = true;

  constructor(
    private readonly destination: string,
    private readonly queue: Pick<DeliveryQueue, 'consume' | 'expedite'>,
    private readonly reporter: OutcomeReporter,
  ) {}

  /**
   * Ends all deliveries. Never rejects.
   * @param onEnd called once none are due, or after `stop`; no pass can be requested from then on
   */
  async end(onEnd: () => void): Promise<void> {
    while (this.isPassRequested) {
      const { mayWait } = this;
      this.isPassRequested = false;
      // Not for each pass: the queue announces the deliveries that it makes due, which requests another.
      this.mayWait = false;
      if (mayWait) await this.persist(async () => void (await this.queue.expedite?.(this.destination)));
      await this.persist(() => this.settleAll());
    }
    onEnd();
    this.logger.end();
    this.reporter.end();
  }

  /**
   * Called when more deliveries may be due.
   * @param mayWait whether some may wait for a retry
   */
  requestPass(mayWait: boolean): void {
    this.isPassRequested = true;
    this.mayWait ||= mayWait;
  }

  /** Called when the destination is added again or the application stops. */
  stop(): void {
    this.stopping.abort();
  }

  /** Repeats the work until it succeeds. */
  private async persist(work: () => Promise<void>): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        return await work();
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        const what = `Deliveries to the removed destination ${this.destination} cannot be marked dead; trying again every ${RETRY_DELAY / 1_000} s`;
        this.logger.failed(`${what}: ${errorMessage(error)}`, { destination: this.destination });
        await this.rest(RETRY_DELAY);
      }
    }
  }

  private async settleAll(): Promise<void> {
    // With a limit, `consume` completes once nothing is left.
    const leases = this.queue.consume(this.destination, CONCURRENCY, Number.MAX_VALUE);
    const settled = leases.pipe(
      mergeMap(async (lease) => {
        const { delivery } = lease;
        const outcome = { state: 'dead', reason: REMOVED, failedUrls: delivery.failedUrls } as const;
        if (await lease.settle(outcome)) this.reporter.report(delivery, outcome);
      }),
      takeUntil(fromEvent(this.stopping.signal, 'abort')),
    );
    await lastValueFrom(settled, { defaultValue: undefined });
  }

  private async rest(delay: number): Promise<void> {
    await sleep(delay, undefined, { ref: false, signal: this.stopping.signal }).catch(() => undefined);
  }
}
