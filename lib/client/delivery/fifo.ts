const COMPACT_FROM = 1024;

/** A first-in, first-out queue: adding and taking an item cost the same at any length. */
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

  /** @param index counted from the first item, which has 0 */
  at(index: number): T | undefined {
    return this.items[this.head + index];
  }

  shift(): T | undefined {
    const item = this.items[this.head];
    if (item === undefined) return undefined;
    this.items[this.head++] = undefined; // lets the item be collected
    if (this.head === this.items.length || (this.head >= COMPACT_FROM && this.head * 2 >= this.items.length)) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  drain(): T[] {
    const items = this.items.slice(this.head) as T[];
    this.items = [];
    this.head = 0;
    return items;
  }
}
