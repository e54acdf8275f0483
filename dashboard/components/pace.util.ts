import { toMinute } from './time.component.js';

/** How fast a destination is sent its deliveries. */
export interface Pace {
  /** Number of deliveries that are still to be sent. */
  open: number;
  /** Deliveries per minute that were measured lately. */
  perMinute: number;
  /** Number of URLs, each of which gets a request of a delivery. */
  urls: number;
  rateLimit: { requests: number; per: number };
}

/** Says how fast a backlog is sent: `sending at its rate limit, 60 deliveries a minute; all are sent by about 14:05`. */
export function paceText({ open, perMinute, urls, rateLimit }: Pace): string {
  // The limit is that of each process; and what was measured includes minutes in which less was due.
  const rate = Math.max(perMinute, ((rateLimit.requests / urls) * 60_000) / rateLimit.per);
  const done = toMinute(Date.now() + (open / rate) * 60_000);
  const shown = rate.toLocaleString(undefined, { maximumFractionDigits: rate < 10 ? 1 : 0 });
  return `sending at its rate limit, ${shown} deliveries a minute; all are sent by about ${done}`;
}
