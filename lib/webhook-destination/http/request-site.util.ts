import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Returns whether a page of this origin made a browser send a request, or the user did, or a page of another origin;
 * undefined if the request does not say so, as that of a program.
 *
 * Browsers send `Sec-Fetch-Site` over TLS and to localhost. Over plain HTTP, they send `Origin` with a change, and with
 * other requests `Referer`, which the dashboard's policy allows within its origin.
 */
export function siteOf({ headers }: IncomingMessage): 'own' | 'other' | undefined {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? 'own' : 'other';
  const source = headers.origin ?? headers.referer;
  if (source === undefined) return undefined;
  return isOwn(source, headers[':authority'] ?? headers.host) ? 'own' : 'other';
}

/** Removes the CORS headers of the application's `enableCors()`: no page of another origin may read an answer. */
export function removeCors(response: ServerResponse): void {
  for (const name of response.getHeaderNames()) if (name.startsWith('access-control-')) response.removeHeader(name);
}

/** @param authority host of the request, by HTTP/2 or HTTP/1.1; its port may be the default one of the page's scheme */
function isOwn(source: string, authority: string | string[] | undefined): boolean {
  if (authority === undefined) return false;
  try {
    const { protocol, host } = new URL(source);
    return host !== '' && new URL(`${protocol}//${String(authority)}`).host === host;
  } catch {
    return false;
  }
}
