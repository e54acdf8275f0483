import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long a browser may cache the answer to a preflight, in s. */
const MAX_AGE = 86_400;

/** Start of an origin whose host may be any subdomain. */
const ANY_SUBDOMAIN = '://*.';

/**
 * Decides which web pages may post from a browser. No page may read an answer to a request with credentials, because
 * only the write key counts.
 */
export class CorsPolicy {
  /** Undefined if every origin is allowed. */
  private readonly origins: Set<string> | undefined;
  /** Allowed origins of any subdomain, before and after its name. */
  private readonly patterns: [start: string, end: string][];

  /** @param options `true` allows every origin */
  constructor(options: true | { origin: string | string[] }) {
    const origins = options === true ? [] : [options.origin].flat();
    this.origins = options === true ? undefined : new Set(origins);
    this.patterns = origins.flatMap((origin) => {
      const [scheme, domain] = origin.split(ANY_SUBDOMAIN);
      return domain === undefined ? [] : [[`${scheme}://`, `.${domain}`]];
    });
  }

  /** Adds the CORS headers to an answer. */
  apply({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
    if (this.origins) response.setHeader('Vary', 'Origin');
    // The host's own policy may already have been applied to a route under its global prefix.
    response.removeHeader('Access-Control-Allow-Credentials');
    if (!this.allows(origin)) return;
    response.setHeader('Access-Control-Allow-Origin', this.origins ? origin : '*');
    response.setHeader('Access-Control-Expose-Headers', 'Retry-After');
  }

  /**
   * Answers a preflight request. It allows all headers, because tracing libraries add theirs and none is trusted; and
   * credentials, because `sendBeacon` sends cookies and would not send JSON otherwise.
   */
  answerPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
    const { origin, 'access-control-request-headers': requested } = headers;
    response.setHeader('Vary', 'Origin, Access-Control-Request-Headers');
    if (this.allows(origin)) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Access-Control-Allow-Credentials', 'true');
      response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
      if (requested !== undefined) response.setHeader('Access-Control-Allow-Headers', requested);
      response.setHeader('Access-Control-Max-Age', MAX_AGE);
    }
    response.writeHead(204).end();
  }

  private allows(origin: string | undefined): origin is string {
    if (origin === undefined) return false;
    if (!this.origins || this.origins.has(origin)) return true;
    return this.patterns.some(([start, end]) => {
      const isLonger = origin.length > start.length + end.length;
      return isLonger && origin.startsWith(start) && origin.endsWith(end);
    });
  }
}
