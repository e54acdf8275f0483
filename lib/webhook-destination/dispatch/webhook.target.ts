import { createHash } from 'node:crypto';

/** A webhook's URL, taken apart once. */
export interface WebhookTarget {
  /** Names the URL in a delivery: as it is shown, with a digest that tells it from others shown alike. */
  id: string;
  /** Without user info. */
  url: string;
  origin: string;
  /** Path and query. */
  path: string;
  /** The URL's user info as a header, where it has one. */
  authorization: string | undefined;
  /** The URL for people: without user info and query, where secrets may be. */
  shown: string;
}

/** Takes a URL apart. */
export function toWebhookTarget(url: string): WebhookTarget {
  const { origin, pathname, search, username, password } = new URL(url);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const shown = origin + pathname;
  return {
    id: `${shown}#${createHash('sha256').update(url).digest('hex').slice(0, 8)}`,
    url: origin + pathname + search,
    origin,
    path: pathname + search,
    authorization: credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
    shown,
  };
}
