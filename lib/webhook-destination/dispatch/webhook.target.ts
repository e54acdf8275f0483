/** A webhook's URL, taken apart once. */
export interface WebhookTarget {
  /** As the application wrote it; names the target in a delivery. */
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
  return {
    url,
    origin,
    path: pathname + search,
    authorization: credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
    shown: origin + pathname,
  };
}
