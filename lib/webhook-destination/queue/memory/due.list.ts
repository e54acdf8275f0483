/** Entries that can be claimed, in the order in which they fall due; those due at one moment in the order they came. */
export class DueList<T extends { dueAt: number }> {
  private entries: T[] = [];
  /** Where the entries that have not been taken begin. */
  private start = 0;

  /** When the first falls due, in ms since the epoch. */
  get nextDueAt(): number | undefined {
    return this.entries[this.start]?.dueAt;
  }

  add(entry: T): void {
    let low = this.start;
    let high = this.entries.length;
    // What comes is mostly due last.
    if (high > low && this.entries[high - 1]!.dueAt <= entry.dueAt) low = high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.entries[middle]!.dueAt <= entry.dueAt) low = middle + 1;
      else high = middle;
    }
    if (low === this.entries.length) this.entries.push(entry);
    else this.entries.splice(low, 0, entry);
  }

  /** Takes out what is due by `now` and matches, at most as many as `limit`. */
  take(limit: number, now: number, matches: (entry: T) => boolean): T[] {
    const taken: T[] = [];
    const left: T[] = [];
    let end = this.start;
    for (; taken.length < limit && end < this.entries.length && this.entries[end]!.dueAt <= now; end++) {
      (matches(this.entries[end]!) ? taken : left).push(this.entries[end]!);
    }
    this.start = end - left.length;
    for (const [index, entry] of left.entries()) this.entries[this.start + index] = entry;
    if (this.start > this.entries.length / 2) {
      this.entries = this.entries.slice(this.start);
      this.start = 0;
    }
    return taken;
  }

  remove(entries: Set<T>): void {
    this.entries = this.entries.slice(this.start).filter((entry) => !entries.has(entry));
    this.start = 0;
  }
}
