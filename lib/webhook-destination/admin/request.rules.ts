import type { IncomingMessage } from 'node:http';

import { RequestError } from '../ingest/request.error.js';

/**
 * Refuses what a page of another site can make a browser send, with the cookies of an administrator.
 *
 * @throws {RequestError} 403
 */
export function checkSite({ headers }: IncomingMessage): void {
  if (headers['sec-fetch-site'] !== 'cross-site') return;
  throw new RequestError(403, 'cross_site', 'pages of another site must not send this request', 'Sec-Fetch-Site');
}

/**
 * Refuses a body that is not labelled as JSON: browsers send this type to another site only after a CORS preflight, and
 * forms cannot have it.
 *
 * @throws {RequestError} 415
 */
export function checkContentType({ headers }: IncomingMessage): void {
  if (/^application\/json[ \t]*(;|$)/i.test(headers['content-type'] ?? '')) return;
  throw new RequestError(415, 'content_type_not_json', 'Content-Type must be application/json', 'Content-Type');
}
