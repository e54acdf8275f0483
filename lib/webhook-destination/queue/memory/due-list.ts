import type { AttemptRecord } from '../attempt-record.interface.js';
import type { Delivery, DeliveryState } from '../delivery-queue.interface.js';

/** A delivery and the state it is in. */
export interface Entry {
  /** Replaced, never changed: a consumer that leased it reads it. */
  delivery: Delivery;
  state: DeliveryState;
  /** When it falls due, in ms since the epoch. */
  dueAt: number;
  /** When it was leased last, in ms since the epoch. */
  leasedAt: number | undefined;
  reason: string | undefined;
  /** The one that delivered it, which `delivery` does not have. */
  lastAttempt: AttemptRecord | undefined;
  /** When it was settled last, in ms since the epoch. */
  settledAt: number;
}

/** What can be claimed for a destination, in the order in which it falls due. */
export class DueList {
  private entries: Entry[] = [];
  private head = 0;

  /** The one that falls due next. */
  get next(): Entry | undefined {
    return this.entries[this.head];
  }

  /** Takes what is due and wanted out of the list. */
  take(limit: number, now: number, isWanted: (entry: Entry) => boolean): Entry[] {
    const taken: Entry[] = [];
    const passed: Entry[] = [];
    for (; taken.length < limit && this.next && this.next.dueAt <= now; this.head++) {
      (isWanted(this.next) ? taken : passed).push(this.next);
    }
    // Now and then, as it moves all that are left.
    if (passed.length > 0 || this.head * 2 >= this.entries.length) {
      this.entries = [...passed, ...this.entries.slice(this.head)];
      this.head = 0;
    }
    return taken;
  }

  /** Adds an entry behind all that fall due no later. */
  add(entry: Entry): void {
    let place = this.entries.length;
    while (place > this.head && this.entries[place - 1]!.dueAt > entry.dueAt) place--;
    this.entries.splice(place, 0, entry);
  }

  /** Drops all others. */
  keep(isKept: (entry: Entry) => boolean): void {
    this.entries = this.entries.slice(this.head).filter(isKept);
    this.head = 0;
  }
}
