/** Maximum number of counted keys. Above it, the key whose window ends first is dropped. */
const MAX_KEYS = 50_000;

/** Counts requests by a key, such as their source or address, in windows of a fixed length. */
export class RateLimiter {
  /** Sorted by the end of the window. */
  private readonly windows = new Map<string, { endsAt: number; requests: number }>();

  constructor(private readonly options: { limit: number; ttl: number }) {}

  /** Counts a request. Returns undefined if it is within the limit, else the milliseconds until the next window. */
  count(key: string, now: number = performance.now()): number | undefined {
    const wait = this.wait(key, now);
    if (wait !== undefined) return wait;
    const window = this.windows.get(key);
    if (window && window.endsAt > now) window.requests++;
    else this.open(key, now);
    return undefined;
  }

  /** Returns the milliseconds until the next window if the limit is used up, without counting a request. */
  wait(key: string, now: number = performance.now()): number | undefined {
    const window = this.windows.get(key);
    if (!window || window.endsAt <= now || window.requests < this.options.limit) return undefined;
    return window.endsAt - now;
  }

  private open(key: string, now: number): void {
    this.windows.delete(key);
    for (const [oldest, { endsAt }] of this.windows) {
      if (endsAt > now && this.windows.size < MAX_KEYS) break;
      this.windows.delete(oldest);
    }
    this.windows.set(key, { endsAt: now + this.options.ttl, requests: 1 });
  }
}

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
