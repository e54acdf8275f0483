import type { IncomingMessage } from 'node:http';

import { IngestError } from '../ingest/ingest.error.js';

/**
 * For each route that changes something: refuses what a page of another site can make a browser send, which would come
 * with the cookies of an administrator.
 *
 * @throws {IngestError} 403 or 415
 */
export function checkChange({ headers }: IncomingMessage): void {
  if (headers['sec-fetch-site'] === 'cross-site') {
    throw new IngestError(403, 'cross_site', 'pages of another site must not send this request', 'Sec-Fetch-Site');
  }
  // Only what asks first (a CORS preflight) may have this type; forms may not.
  if (!/^application\/json[ \t]*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new IngestError(415, 'content_type_not_json', 'Content-Type must be application/json', 'Content-Type');
  }
}
