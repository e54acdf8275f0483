import type { DeliveryQueue, NewDelivery } from '../queue/delivery-queue.interface.js';
import { timeOf } from '../queue/steady.clock.js';
import type { DestinationRouter } from '../routing/destination.router.js';
import { checkDeletion, type CheckedDeletion } from './deletion.request.js';

/** Notifications given to the queue at once, give or take those of one user and source. */
const PORTION = 500;

/** What a deletion came to. */
export interface DeletionResult {
  /** Delete notifications that are on their way: one for each user, affected source and enabled destination of it. */
  notifications: number;
  /** Deliveries of the users that were removed from the queue, bodies and attempts. */
  purged: number;
}

/** Removes users' deliveries, and tells the receivers to remove what they have (§1). */
export class UserDeletion {
  constructor(
    private readonly sources: string[],
    private readonly router: DestinationRouter,
    private readonly queue: DeliveryQueue,
  ) {}

  /**
   * Resolves once the notifications are in the queue, durably, and the users' deliveries gone. If it rejects, it is to
   * be asked for again.
   * @throws {DeletionFault} that names the field at fault
   */
  async request(request: unknown): Promise<DeletionResult> {
    const { userIds, sources } = checkDeletion(request, this.sources);
    // Later than all that was accepted so far.
    const acceptedAt = timeOf(this.queue) + 1;
    let notifications = 0;
    // In this order, and by this bound: a notification is a delivery of the user's too, and may go only when a later one
    // is in the queue.
    for (const portion of this.notify({ userIds, sources }, acceptedAt)) {
      await this.queue.add(portion);
      notifications += portion.length;
    }
    const purged = await this.queue.purge({ userId: userIds, source: sources, acceptedBefore: acceptedAt });
    return { notifications, purged };
  }

  /** The notifications, portion by portion. */
  private *notify({ userIds, sources = this.sources }: CheckedDeletion, acceptedAt: number): Generator<NewDelivery[]> {
    let portion: NewDelivery[] = [];
    for (const userId of userIds) {
      for (const source of sources) {
        portion.push(...this.router.routeDeletion(source, userId, Date.now(), acceptedAt));
        if (portion.length < PORTION) continue;
        yield portion;
        portion = [];
      }
    }
    yield portion;
  }
}
