import type { PendingEvent } from './event.ledger.js';

// Below this, moving what is left costs less than keeping count would save.
const COMPACT_FROM = 1024;

/** Events in the order in which they came. Adding one and taking one cost the same however many wait. */
export class EventFifo {
  private items: (PendingEvent | undefined)[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  push(event: PendingEvent): void {
    this.items.push(event);
  }

  peek(): PendingEvent | undefined {
    return this.items[this.head];
  }

  shift(): PendingEvent | undefined {
    const event = this.items[this.head];
    if (event === undefined) return undefined;
    this.items[this.head++] = undefined; // What has left must not stay in memory.
    if (this.head === this.items.length || (this.head >= COMPACT_FROM && this.head * 2 >= this.items.length)) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return event;
  }
}
