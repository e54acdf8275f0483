import type { DeliveryQueue } from '../queue/delivery-queue.interface.js';
import type { DestinationRouter } from '../routing/destination.router.js';

/** Whose data is to go, and where. */
export interface DeletionRequest {
  userId: string;
  /** Names of the sources affected, at least one. Default: every source. */
  sources?: string[] | undefined;
}

/** What a deletion came to. */
export interface DeletionResult {
  /** Delete notifications that are on their way: one for each affected source and enabled destination of it. */
  notifications: number;
  /** Deliveries of the user that were removed from the queue, bodies and attempts. */
  purged: number;
}

/** Removes a user's deliveries, and tells the receivers to remove what they have (§1). */
export class UserDeletion {
  constructor(
    private readonly sources: string[],
    private readonly router: DestinationRouter,
    private readonly queue: DeliveryQueue,
  ) {}

  /** Whether these are names of sources, and at least one. */
  knows(sources: string[]): boolean {
    return sources.length > 0 && sources.every((source) => this.sources.includes(source));
  }

  /**
   * Resolves once the notifications are in the queue, durably, and the user's deliveries gone. If it rejects, it is to
   * be asked for again.
   */
  async request({ userId, sources }: DeletionRequest): Promise<DeletionResult> {
    if (typeof userId !== 'string' || userId === '') throw new Error('userId must be a non-empty string');
    if (sources && !this.knows(sources)) throw new Error('sources must name one or more sources of this module');
    const affected = [...new Set(sources ?? this.sources)];
    // Later than all that was accepted so far.
    const requestedAt = Date.now() + 1;
    const notifications = affected.flatMap((source) => this.router.routeDeletion(source, userId, requestedAt));
    // In this order, and by this bound: a notification is a delivery of the user's too, and may go only when a later one
    // is in the queue.
    await this.queue.add(notifications);
    const older = { userId, acceptedBefore: requestedAt };
    const purged = sources
      ? await Promise.all(affected.map((source) => this.queue.purge({ ...older, source })))
      : [await this.queue.purge(older)];
    return { notifications: notifications.length, purged: purged.reduce((sum, count) => sum + count, 0) };
  }
}
