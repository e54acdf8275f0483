import type { HTTPResponse } from './http-client.interface.js';
import { lowerCaseNames } from './response-headers.util.js';

/** Maximum number of redirects that one attempt follows. */
export const MAX_REDIRECTS = 5;

/** Redirects that keep the method and the body. After any other, clients send a GET without events. */
const KEEPS_BODY = new Set([307, 308]);

/** Whether a status is a redirect; 304 is not one. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** Returns the URL to post a batch to instead; undefined if the response is not such a redirect. */
export function redirectTarget(url: string, { status, headers }: HTTPResponse): string | undefined {
  if (!KEEPS_BODY.has(status)) return undefined;
  const { location } = lowerCaseNames(headers);
  if (!location) return undefined;
  try {
    const from = new URL(url);
    const { protocol, href } = new URL(location, from);
    // From https to http, the write key would be sent in plain text.
    return protocol === 'https:' || (protocol === 'http:' && from.protocol === 'http:') ? href : undefined;
  } catch {
    return undefined;
  }
}
