import { activeTraceText } from '../../client/telemetry/trace-context.js';
import type { MessageAcceptor } from '../ingest/message.acceptor.js';
import type { DeliveryQueue, NewDelivery } from '../queue/delivery-queue.interface.js';
import { timeOf } from '../queue/steady-clock.js';
import type { DestinationRouter } from '../routing/destination.router.js';
import { checkDeletion } from './deletion-request.js';

/** Approximate number of notifications added to the queue at once. */
const PORTION = 500;

/** Result of a deletion. */
export interface DeletionResult {
  /** Delete notifications queued: one for each user, affected source and enabled destination of the source. */
  notifications: number;
  /** The users' deliveries that were removed from the queue, with bodies and attempts. */
  purged: number;
}

/** Removes users' deliveries, and sends delete notifications to the receivers. */
export class UserDeletion {
  constructor(
    private readonly sources: { readonly names: string[] },
    private readonly router: DestinationRouter,
    private readonly queue: DeliveryQueue,
    private readonly acceptor: Pick<MessageAcceptor, 'enqueue'>,
  ) {}

  /**
   * Resolves once the notifications are durably queued and the users' deliveries are removed. If it rejects, the
   * request must be repeated.
   *
   * @throws {RequestError} that names the invalid field
   */
  async request(request: unknown): Promise<DeletionResult> {
    const { userIds, sources } = checkDeletion(request, this.sources.names);
    // Later than everything accepted so far: a notification is also a delivery of the user, and `purge` must spare it.
    const acceptedAt = timeOf(this.queue) + 1;
    const trace = activeTraceText();
    let portion: NewDelivery[] = [];
    let notifications = 0;
    const add = async () => {
      await this.acceptor.enqueue(portion);
      notifications += portion.length;
      portion = [];
    };
    for (const userId of userIds) {
      for (const source of sources ?? this.sources.names) {
        portion.push(...this.router.routeDeletion(source, userId, Date.now(), acceptedAt, trace));
        if (portion.length >= PORTION) await add();
      }
    }
    await add();
    const purged = await this.queue.purge({ userId: userIds, source: sources, acceptedBefore: acceptedAt });
    return { notifications, purged };
  }
}
