import type { HTTPResponse } from './http-client.interface.js';
import { lowerCaseNames } from './response-headers.util.js';

/** Maximum number of redirects that one attempt follows. */
export const MAX_REDIRECTS = 5;

/** Redirects that keep the method and the body. After any other, clients send a GET without events. */
const KEEPS_BODY = new Set([307, 308]);

export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Returns the URL to post a batch to instead; undefined if the response is not such a redirect. */
export function redirectTarget(url: string, { status, headers }: HTTPResponse): string | undefined {
  if (!KEEPS_BODY.has(status)) return undefined;
  const { location } = lowerCaseNames(headers);
  if (!location) return undefined;
  try {
    const { protocol, href } = new URL(location, url);
    return protocol === 'https:' || protocol === 'http:' ? href : undefined;
  } catch {
    return undefined;
  }
}
