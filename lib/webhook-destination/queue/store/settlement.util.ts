import type { Delivery, DeliveryState } from '../delivery.interface.js';
import type { Settlement } from './delivery-store.interface.js';

/** What a settlement changes of a delivery. */
interface Settled extends Pick<Delivery, 'firstAttemptAt' | 'attempts' | 'failedUrls'> {
  state: DeliveryState;
  /** Time of the next attempt, in ms since the epoch; undefined if the settlement does not change it. */
  dueAt: number | undefined;
  reason: string | undefined;
}

/** Returns the settled delivery's new state and records. */
export function toSettled({ delivery, outcome }: Pick<Settlement, 'delivery' | 'outcome'>): Settled {
  const { attempts, failedUrls } = delivery;
  return {
    state: outcome?.state ?? (attempts.length === 0 ? 'queued' : 'waiting'),
    firstAttemptAt: delivery.firstAttemptAt ?? outcome?.attempt?.startedAt,
    attempts: outcome?.attempt ? [...attempts, outcome.attempt] : attempts,
    failedUrls: outcome && 'failedUrls' in outcome ? outcome.failedUrls : failedUrls,
    dueAt: outcome?.state === 'waiting' ? outcome.nextAttemptAt : undefined,
    reason: outcome?.state === 'dead' ? outcome.reason : undefined,
  };
}
