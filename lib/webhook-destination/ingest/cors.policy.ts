import type { IncomingMessage, ServerResponse } from 'node:http';

import type { CorsOptions } from './ingest.options.js';

/** The SDK of RudderStack for browsers sends `anonymousid`. */
const ALLOWED_HEADERS = 'authorization, content-type, content-encoding, x-retry-count, anonymousid';

/** How long a browser may cache the answer to a preflight, in s. */
const MAX_AGE = 86_400;

/**
 * Decides which web pages may post from a browser. Credentials are never allowed, because only the write key counts.
 */
export class CorsPolicy {
  private readonly origins: Set<string> | undefined;

  /** @param options `true` allows every origin */
  constructor(options: true | CorsOptions) {
    this.origins = options === true ? undefined : new Set([options.origin].flat());
  }

  /** Adds the CORS headers to an answer. */
  apply({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
    if (this.origins) response.setHeader('Vary', 'Origin');
    // The host's own policy may already have been applied to a route under its global prefix.
    response.removeHeader('Access-Control-Allow-Credentials');
    if (origin === undefined || (this.origins && !this.origins.has(origin))) return;
    response.setHeader('Access-Control-Allow-Origin', this.origins ? origin : '*');
    response.setHeader('Access-Control-Expose-Headers', 'Retry-After');
  }

  /** Answers a preflight request. */
  answerPreflight(request: IncomingMessage, response: ServerResponse): void {
    this.apply(request, response);
    if (response.hasHeader('Access-Control-Allow-Origin')) {
      response.setHeader('Access-Control-Allow-Methods', 'POST');
      response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS);
      response.setHeader('Access-Control-Max-Age', MAX_AGE);
    }
    response.writeHead(204).end();
  }
}
