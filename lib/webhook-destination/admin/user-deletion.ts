import { activeTraceText } from '../../client/telemetry/trace-context.js';
import type { MessageAcceptor } from '../ingest/message.acceptor.js';
import { Portion } from '../ingest/portion.js';
import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import { timeOf } from '../queue/steady-clock.js';
import type { DestinationRouter } from '../routing/destination.router.js';
import { checkDeletion } from './deletion-request.js';

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
    private readonly acceptor: Pick<MessageAcceptor, 'store'>,
  ) {}

  /**
   * Removes the users' deliveries, then queues the notifications, which may exceed the size limit of the queue. Resolves
   * once both are durable. If it rejects, the request must be repeated. A repeated one sends all its notifications;
   * earlier ones stay in the queue until they are sent, as this process may end before it has queued the new ones.
   *
   * @throws {RequestError} that names the invalid field
   */
  async request(request: unknown): Promise<DeletionResult> {
    const { userIds, sources } = checkDeletion(request, this.sources.names);
    const trace = activeTraceText();
    const acceptedBefore = timeOf(this.queue) + 1;
    const purged = await this.queue.purge({ userId: userIds, source: sources, acceptedBefore }, true);
    let portion = new Portion();
    let notifications = 0;
    const store = async () => {
      await this.acceptor.store(portion, { isBegun: true, beyondLimit: true });
      notifications += portion.deliveries.length;
      portion = new Portion();
    };
    for (const userId of userIds) {
      for (const source of sources ?? this.sources.names) {
        const notices = this.router.routeDeletion(source, userId, Date.now(), timeOf(this.queue), trace);
        for (const notice of notices) {
          portion.add(notice);
          if (portion.isFull) await store();
        }
      }
    }
    await store();
    return { notifications, purged };
  }
}
