import { setTimeout as sleep } from 'node:timers/promises';

import { defer, EMPTY, type Observable, type ObservableInput, retry, Subscription } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import type { Lease } from '../queue/delivery.interface.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import type { OutcomeReporter } from './outcome.reporter.js';

/** Number of deliveries ended concurrently. */
const CONCURRENCY = 64;

/** Wait after a failure of the queue, in ms. */
const RETRY_DELAY = 1_000;

/** Ends the deliveries of a destination that was removed or disabled, and those still accepted for it: they become dead. */
export class EndedDestination {
  private readonly logger = new LimitedLogger('WebhookDispatcher');
  private readonly work = new Subscription();

  /** @param reason of the dead deliveries */
  constructor(
    private readonly destination: string,
    private readonly reason: string,
    private readonly queue: Pick<DeliveryQueue, 'consume' | 'expedite'>,
    private readonly reporter: OutcomeReporter,
  ) {}

  start(): void {
    const leases = this.persist(() => this.queue.consume(this.destination, CONCURRENCY));
    this.work.add(leases.subscribe((lease) => void this.end(lease)));
  }

  /** Ends the deliveries that wait for a retry too. */
  expedite(): void {
    this.work.add(this.persist(() => this.queue.expedite(this.destination)).subscribe());
  }

  /** Called when the destination is added again, changed or enabled, or the application stops. */
  stop(): void {
    this.work.unsubscribe();
    this.logger.end();
    this.reporter.end();
  }

  private async end(lease: Lease): Promise<void> {
    const { delivery } = lease;
    const outcome = { state: 'dead', reason: this.reason, failedUrls: delivery.failedUrls } as const;
    try {
      if (await lease.settle(outcome)) this.reporter.report(delivery, outcome);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Repeats the work until it succeeds. */
  private persist<T>(work: () => ObservableInput<T>): Observable<T> {
    const delay = (error: unknown) => {
      this.fail(error);
      return sleep(RETRY_DELAY, undefined, { ref: false });
    };
    return defer(() => (this.work.closed ? EMPTY : work())).pipe(retry({ delay }));
  }

  private fail(error: unknown): void {
    if (this.work.closed) return;
    const { destination, reason } = this;
    const line = `Deliveries to ${destination} (${reason}) cannot be marked dead, trying again`;
    this.logger.failed(`${line}: ${errorMessage(error)}`, { destination });
  }
}
