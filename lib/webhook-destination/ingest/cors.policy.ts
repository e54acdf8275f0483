import type { IncomingMessage, ServerResponse } from 'node:http';

import type { CorsOptions } from './ingest.options.js';

const ALLOWED_HEADERS = 'authorization, content-type, content-encoding, x-retry-count';

/** How long a browser may remember the answer to a preflight, in s. */
const MAX_AGE = 86_400;

/** Which web pages may post from a browser. Credentials are never allowed: the write key is all that counts. */
export class CorsPolicy {
  private readonly origins: Set<string> | undefined;

  /** @param options `true` allows every origin */
  constructor(options: true | CorsOptions) {
    this.origins = options === true ? undefined : new Set([options.origin].flat());
  }

  /** Adds the headers of an answer to a page. */
  apply({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
    if (this.origins) response.setHeader('Vary', 'Origin');
    // The host's own policy may have been applied before, to a route under its global prefix.
    response.removeHeader('Access-Control-Allow-Credentials');
    if (origin === undefined || (this.origins && !this.origins.has(origin))) return;
    response.setHeader('Access-Control-Allow-Origin', this.origins ? origin : '*');
    response.setHeader('Access-Control-Expose-Headers', 'Retry-After');
  }

  /** Answers a browser's question whether a page may post. */
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
