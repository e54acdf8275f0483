import { createHash } from 'node:crypto';

/** The parts of a webhook's URL. */
export interface WebhookTarget {
  /** Identifies the URL in a delivery: `shown` and a digest, because several URLs may have the same `shown`. */
  id: string;
  /** The URL without user info. */
  url: string;
  origin: string;
  /** Path and query. */
  path: string;
  /** The URL's user info as an `Authorization` header, if it has any. */
  authorization: string | undefined;
  /** The URL for logs and records; see {@link shownUrl}. */
  shown: string;
}

export function toWebhookTarget(url: string): WebhookTarget {
  const parsed = new URL(url);
  const { origin, pathname, search } = parsed;
  const shown = shownUrl(parsed);
  return {
    id: `${shown}#${createHash('sha256').update(url).digest('hex').slice(0, 8)}`,
    url: origin + pathname + search,
    origin,
    path: pathname + search,
    authorization: basicAuthorization(parsed),
    shown,
  };
}

/** A path segment of at least 16 characters that is not made of words: it may be a token, as in Slack's URLs. */
const MAYBE_TOKEN = /(?<=\/)(?![a-z]{0,15}\d{0,3}(?:[-_.~][a-z]{0,15}\d{0,3})*(?:\/|$))[^/]{16,}/gi;

/**
 * Returns a URL for logs, records and answers, without what may be a secret: user info, query, and tokens in the path,
 * which become `***`.
 */
export function shownUrl({ origin, pathname }: URL): string {
  return origin + pathname.replace(MAYBE_TOKEN, '***');
}

/**
 * Returns the user info of a URL as the value of an `Authorization` header; undefined if there is none.
 *
 * @throws {URIError} if a percent sign in it is not part of an escape; see {@link hasReadableUserInfo}
 */
export function basicAuthorization({ username, password }: URL): string | undefined {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
}
