import type { Delivery, DeliveryRecord, DeliveryState } from '../delivery.interface.js';

/** A delivery and its state. */
export interface Entry {
  /** Replaced, never modified: a consumer with a lease reads it. */
  delivery: Delivery;
  state: DeliveryState;
  /** When it falls due, in ms since the epoch. */
  dueAt: number;
  /** When it was last leased or settled, in ms since the epoch. */
  changedAt: number;
  reason: string | undefined;
}

/** Whether a delivery in this state falls due. */
export function isWaiting(state: DeliveryState): boolean {
  return state === 'queued' || state === 'waiting';
}

export function toRecord({ delivery, state, dueAt, reason }: Entry): DeliveryRecord {
  const nextAttemptAt = isWaiting(state) ? dueAt : undefined;
  return { ...delivery, body: delivery.body.toString(), state, nextAttemptAt, reason };
}
