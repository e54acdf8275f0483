import { withAttempt } from './kept-answers.util.js';
import type { Delivery, DeliveryState, NewDelivery } from './delivery.interface.js';
import type { Settlement } from './store/delivery-store.interface.js';

/** Empty list that all deliveries without attempts share; never modified. */
export const NONE: never[] = [];

/** Creates a delivery without attempts. It copies field by field because that is fastest. */
export function toDelivery(accepted: NewDelivery, id: string): Delivery {
  const { destination, source, messageId, userId, body, acceptedAt, trace, recordedBy, release } = accepted;
  return {
    destination,
    source,
    messageId,
    userId,
    body,
    acceptedAt,
    trace,
    recordedBy,
    release,
    id,
    firstAttemptAt: undefined,
    attempts: NONE,
    failedUrls: NONE,
  };
}

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
    attempts: outcome?.attempt ? withAttempt(attempts, outcome.attempt) : attempts,
    failedUrls: outcome && 'failedUrls' in outcome ? outcome.failedUrls : failedUrls,
    dueAt: outcome?.state === 'waiting' ? outcome.nextAttemptAt : undefined,
    reason: outcome?.state === 'dead' ? outcome.reason : undefined,
  };
}
