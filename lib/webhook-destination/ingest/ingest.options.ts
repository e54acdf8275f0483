import type { IncomingMessage } from 'node:http';

import { IfGiven, Must } from '../../common/options.rules.js';
import { isPositiveInteger, isPositiveNumber } from '../../common/value.util.js';

/** Which web pages may post from a browser. */
export interface CorsOptions {
  /** Their origins, such as `https://shop.example`. */
  origin: string | string[];
}

/** How many requests a source may make. */
export interface RateLimitOptions {
  /** Requests in each window. */
  limit: number;
  /** Length of the window, in ms. */
  ttl: number;
  /**
   * What the limit applies to: each source, or each client address of each source. Use `'address'` for a public key, such
   * as that of a browser, so that one client cannot use up the allowance of the others.
   * @default 'source'
   */
  by?: 'source' | 'address' | undefined;
}

const isOrigin = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value;

function isCors(value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  const origins = [(value as CorsOptions | null)?.origin].flat();
  return origins.length > 0 && origins.every(isOrigin);
}

function isRateLimit(value: unknown): boolean {
  const { limit, ttl, by = 'source', ...others } = (value ?? {}) as Partial<RateLimitOptions>;
  if (Object.keys(others).length > 0) return false;
  return isPositiveInteger(limit) && isPositiveNumber(ttl) && (by === 'source' || by === 'address');
}

/** The routes that SDKs post to. */
export class IngestOptions {
  /**
   * First part of every route, without slashes around it.
   * @default 'v1'
   */
  @Must(
    'be a path such as "v1", without slashes around it',
    (value) => typeof value === 'string' && /^[\w.~-]+(\/[\w.~-]+)*$/.test(value),
  )
  prefix: string = 'v1';

  /**
   * Which web pages may post from a browser: `true` for all, or those of some origins. Credentials are never allowed.
   * @default false
   * @see docs/ingest.md, "Browsers"
   */
  @Must('be a boolean, or an object whose origin is one or more origins such as "https://shop.example"', isCors)
  cors: boolean | CorsOptions = false;

  /**
   * How many requests each source, or each address, may send to each process; those above it are answered 429 with
   * `Retry-After`. Default: no limit.
   * @see docs/ingest.md, "Limits"
   */
  @IfGiven()
  @Must(
    "have a whole number above 0 as limit and milliseconds above 0 as ttl, and may have 'source' or 'address' as by",
    isRateLimit,
  )
  rateLimit?: RateLimitOptions;

  /**
   * Returns the client's IP address, for applications behind a proxy. Any other value falls back to the address of the
   * connection. Rely on a header only if the proxy sets it. Default: the address of the connection.
   */
  @IfGiven()
  @Must('be a function', (value) => typeof value === 'function')
  clientAddress?: (request: IncomingMessage) => string | undefined;
}
