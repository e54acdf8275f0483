import type { IncomingMessage } from 'node:http';

import { RequestError } from '../ingest/request.error.js';

/**
 * Refuses requests that a page of another site makes the browser send with an administrator's cookies.
 *
 * @throws {RequestError} 403
 */
export function checkSite({ headers }: IncomingMessage): void {
  if (headers['sec-fetch-site'] !== 'cross-site') return;
  throw new RequestError(403, 'cross_site', 'pages of another site must not send this request', 'Sec-Fetch-Site');
}

/**
 * Refuses requests whose content type is not JSON. Browsers send JSON to another site only after a CORS preflight, and
 * forms cannot send it.
 *
 * @throws {RequestError} 415
 */
export function checkContentType({ headers }: IncomingMessage): void {
  if (/^application\/json[ \t]*(;|$)/i.test(headers['content-type'] ?? '')) return;
  throw new RequestError(415, 'content_type_not_json', 'Content-Type must be application/json', 'Content-Type');
}
