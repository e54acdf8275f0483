import type { Delivery, DeliveryState } from '../../webhook-destination/queue/delivery.interface.js';

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

/** Deliveries of one destination that can be claimed, ordered by due time. */
export class DueList {
  private entries: Entry[] = [];
  private head = 0;

  /** The entry that falls due next. */
  get next(): Entry | undefined {
    return this.entries[this.head];
  }

  /** Removes and returns due entries, at most `limit`. */
  take(limit: number, now: number): Entry[] {
    const taken: Entry[] = [];
    for (; taken.length < limit && this.next && this.next.dueAt <= now; this.head++) taken.push(this.next);
    // Not every time, because this moves all remaining entries.
    if (this.head * 2 >= this.entries.length) {
      this.entries = this.entries.slice(this.head);
      this.head = 0;
    }
    return taken;
  }

  /** Inserts an entry behind all that fall due earlier or at the same time. */
  add(entry: Entry): void {
    let place = this.entries.length;
    while (place > this.head && this.entries[place - 1]!.dueAt > entry.dueAt) place--;
    this.entries.splice(place, 0, entry);
  }

  /** Removes all entries except those that `isKept` accepts. */
  keep(isKept: (entry: Entry) => boolean): void {
    this.entries = this.entries.slice(this.head).filter(isKept);
    this.head = 0;
  }
}
