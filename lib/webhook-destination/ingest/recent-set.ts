/** Remembers the strings added last: between `most` and twice as many. */
export class RecentSet {
  private current = new Set<string>();
  private previous = new Set<string>();

  constructor(private readonly most: number) {}

  /** Returns whether a string is remembered. A remembered string counts as added again. */
  has(text: string): boolean {
    if (this.current.has(text)) return true;
    if (!this.previous.has(text)) return false;
    this.add(text);
    return true;
  }

  add(text: string): void {
    if (this.current.size >= this.most) {
      this.previous = this.current;
      this.current = new Set();
    }
    this.current.add(text);
  }
}
