import type { RateLimitOptions } from '../options/ingest.options.js';

/** Counts the requests of each source in windows of a fixed length. */
export class RateLimiter {
  private readonly windows = new Map<string, { endsAt: number; requests: number }>();

  constructor(private readonly options: RateLimitOptions) {}

  /** Counts a request; answers undefined when it is within the limit, else the milliseconds until the next window. */
  count(source: string, now: number = performance.now()): number | undefined {
    let window = this.windows.get(source);
    if (!window || window.endsAt <= now) {
      window = { endsAt: now + this.options.ttl, requests: 0 };
      this.windows.set(source, window);
    }
    window.requests++;
    return window.requests > this.options.limit ? window.endsAt - now : undefined;
  }
}
