import type { Observable, Subscription } from 'rxjs';

import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import type { CountedCaller } from '../../http/caller.quota.js';
import type { UrlResult } from '../../queue/attempt-record.interface.js';
import type { DeliveryQueue } from '../../queue/delivery.queue.js';

/** Destinations whose last failure is remembered, those that failed last. */
const MAX_REMEMBERED = 1_000;

/** How long a search for a failure that this process has not seen is not repeated, nor made after one it saw, in ms. */
const REUSE = 60_000;

/** The last failed attempt of a destination. */
export interface LastFailure {
  /** When it ended or, if this process did not see it, began; in ms since the epoch. */
  at: number;
  /** Why the delivery is dead; absent if it is attempted again. */
  reason?: string;
  /** HTTP status of the first URL that failed; absent if it did not answer. */
  status?: number;
  error?: string;
}

/** Remembers the last failure of each destination; one that another process may have seen since is searched for. */
export class LastFailures {
  private readonly seen = new Map<string, LastFailure>();
  private readonly searched = new Map<string, { at: number; failure: LastFailure | undefined }>();
  private readonly subscription: Subscription;

  constructor(
    outcomes$: Observable<DeliveryEvent>,
    private readonly queue: Pick<DeliveryQueue, 'searches' | 'peers'>,
  ) {
    this.subscription = outcomes$.subscribe((event) => {
      if (event.type === 'delivered') return;
      const { destination, results } = event;
      this.seen.delete(destination); // so that it becomes the last
      this.seen.set(destination, toFailure(Date.now(), results, event.type === 'dead' ? event.reason : undefined));
      if (this.seen.size > MAX_REMEMBERED) this.seen.delete(this.seen.keys().next().value!);
    });
  }

  /** @param state of deliveries that the destination has */
  async find(destination: string, state: 'waiting' | 'dead', caller: CountedCaller): Promise<LastFailure | undefined> {
    const seen = this.seen.get(destination);
    if (seen && (!this.queue.peers || Date.now() - seen.at < REUSE)) return seen;
    const now = performance.now();
    for (const [name, { at }] of this.searched) if (now - at > REUSE) this.searched.delete(name);
    if (!this.searched.has(destination)) {
      const { deliveries } = await this.queue.searches.search({ destination, state }, { limit: 1 }, caller);
      const { attempts, reason, acceptedAt } = deliveries[0] ?? { attempts: [], acceptedAt: now };
      const last = attempts.at(-1);
      const failure = deliveries[0] && toFailure(last?.startedAt ?? acceptedAt, last?.results ?? [], reason);
      this.searched.set(destination, { at: now, failure });
    }
    const { failure } = this.searched.get(destination)!;
    return seen && seen.at >= (failure?.at ?? 0) ? seen : failure;
  }

  close(): void {
    this.subscription.unsubscribe();
  }
}

function toFailure(at: number, results: UrlResult[], reason: string | undefined): LastFailure {
  const { status, error } = results.find(({ outcome }) => outcome !== 'success') ?? {};
  return {
    at,
    ...(reason !== undefined && { reason }),
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
  };
}
