import { setTimeout as sleep } from 'node:timers/promises';

import { fromEvent, lastValueFrom, mergeMap, takeUntil } from 'rxjs';

import { errorMessage } from '../../common/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import { endOfRemoved } from './attempt.judge.js';
import type { OutcomeReporter } from './outcome.reporter.js';

/** Deliveries ended at once. */
const CONCURRENCY = 64;

/** Wait after a failure of the queue, in ms. */
const RETRY_DELAY = 1_000;

/** Ends the deliveries of a destination that was removed: they become dead. */
export class RemovedDestination {
  private readonly logger = new LimitedLogger('WebhookDispatcher');
  private readonly stopping = new AbortController();
  /** Whether something came to be due since it began to look. */
  private isAsked = true;

  constructor(
    private readonly destination: string,
    private readonly queue: Pick<DeliveryQueue, 'consume' | 'expedite'>,
    private readonly reporter: OutcomeReporter,
  ) {}

  /** Resolves once none is due, or after `stop`. Never rejects. */
  async end(): Promise<void> {
    // Once: what it makes due, the queue names as due again.
    await this.persist(async () => void (await this.queue.expedite?.(this.destination)));
    while (this.isAsked) {
      this.isAsked = false;
      await this.persist(() => this.settleAll());
    }
    this.logger.end();
    this.reporter.end();
  }

  /** Tells that there may be more. */
  look(): void {
    this.isAsked = true;
  }

  /** The destination is there again, or the application stops. */
  stop(): void {
    this.stopping.abort();
  }

  /** Does it until it succeeds. */
  private async persist(work: () => Promise<void>): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        return await work();
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        const what = `Deliveries to ${this.destination}, which was removed, could not be ended, trying again`;
        this.logger.failed(`${what}: ${errorMessage(error)}`, { destination: this.destination });
        await this.rest(RETRY_DELAY);
      }
    }
  }

  private async settleAll(): Promise<void> {
    // A limited consumption completes once nothing is left.
    const leases = this.queue.consume(this.destination, CONCURRENCY, Number.MAX_VALUE);
    const settled = leases.pipe(
      mergeMap(async (lease) => {
        const { delivery } = lease;
        const outcome = endOfRemoved(delivery);
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
