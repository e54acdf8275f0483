// Below this, moving what is left costs less than keeping count would save.
const COMPACT_FROM = 1024;

/** Items in the order in which they came. Adding one and taking one cost the same however many wait. */
export class Fifo<T extends object> {
  private items: (T | undefined)[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  push(item: T): void {
    this.items.push(item);
  }

  peek(): T | undefined {
    return this.items[this.head];
  }

  shift(): T | undefined {
    const item = this.items[this.head];
    if (item === undefined) return undefined;
    this.items[this.head++] = undefined; // What has left must not stay in memory.
    if (this.head === this.items.length || (this.head >= COMPACT_FROM && this.head * 2 >= this.items.length)) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  /** Takes all that wait. */
  drain(): T[] {
    const items = this.items.slice(this.head) as T[];
    this.items = [];
    this.head = 0;
    return items;
  }
}
