import { setTimeout as sleep } from 'node:timers/promises';

import type { Subscription } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { DeliveryQueue, Lease } from '../queue/delivery-queue.interface.js';
import type { OutcomeReporter } from './outcome.reporter.js';

/** Why the deliveries are dead. */
const REMOVED = 'destination removed';

/** Number of deliveries ended concurrently. */
const CONCURRENCY = 64;

/** Wait after a failure of the queue, in ms. */
const RETRY_DELAY = 1_000;

/** Ends the deliveries of a destination that was removed, and those still accepted for it: they become dead. */
export class RemovedDestination {
  private readonly logger = new LimitedLogger('WebhookDispatcher');
  private readonly stopping = new AbortController();
  private subscription: Subscription | undefined;

  constructor(
    private readonly destination: string,
    private readonly queue: Pick<DeliveryQueue, 'consume' | 'expedite'>,
    private readonly reporter: OutcomeReporter,
  ) {}

  start(): void {
    void this.persist(() => {
      return new Promise((_, reject) => {
        this.subscription = this.queue
          .consume(this.destination, CONCURRENCY)
          .subscribe({ next: (lease) => void this.end(lease), error: reject });
      });
    });
  }

  /** Ends the deliveries that wait for a retry too. */
  expedite(): void {
    void this.persist(async () => void (await this.queue.expedite?.(this.destination)));
  }

  /** Called when the destination is added again or the application stops. */
  stop(): void {
    this.stopping.abort();
    this.subscription?.unsubscribe();
    this.logger.end();
    this.reporter.end();
  }

  private async end(lease: Lease): Promise<void> {
    const { delivery } = lease;
    const outcome = { state: 'dead', reason: REMOVED, failedUrls: delivery.failedUrls } as const;
    try {
      if (await lease.settle(outcome)) this.reporter.report(delivery, outcome);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Repeats the work until it succeeds. */
  private async persist(work: () => Promise<void>): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        return await work();
      } catch (error) {
        this.fail(error);
        await sleep(RETRY_DELAY, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  private fail(error: unknown): void {
    if (this.stopping.signal.aborted) return;
    const line = `Deliveries to the removed destination ${this.destination} cannot be marked dead, trying again`;
    this.logger.failed(`${line}: ${errorMessage(error)}`, { destination: this.destination });
  }
}
