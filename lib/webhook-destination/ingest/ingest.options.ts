import type { IncomingMessage } from 'node:http';

import { IfGiven, Must } from '../../common/options.rules.js';
import { isPositiveInteger, isPositiveNumber } from '../../common/value.util.js';

/** Which web pages may post from a browser. */
export interface CorsOptions {
  /**
   * Origins of the pages, such as `https://shop.example`, `https://*.shop.example` for all its subdomains, or
   * `capacitor://localhost` of an app.
   */
  origin: string | string[];
}

/** Limit on the requests of a source. */
export interface RateLimitOptions {
  /** Maximum number of requests in each window. */
  limit: number;
  /** Length of the window, in ms. */
  ttl: number;
  /**
   * What the limit applies to: each source, or each client address of each source. Use `'address'` for a public key,
   * such as a browser's, so one client cannot use up the limit of the others.
   * @default 'source'
   */
  by?: 'source' | 'address' | undefined;
}

/** Whether a value is an origin as browsers send it, or one with `*` in place of any subdomain. */
function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || !/^[a-z][a-z\d+.-]*:\/\/(\*\.)?[^\s/?#@*A-Z]+$/.test(value)) return false;
  const origin = value.replace('*.', 'any.');
  return !/^https?:/.test(value) || (URL.canParse(origin) && new URL(origin).origin === origin);
}

function isCors(value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  const origins = [(value as CorsOptions | null)?.origin].flat();
  return origins.length > 0 && origins.every(isOrigin);
}

function isBaseUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value) || /[?#]/.test(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function isRateLimit(value: unknown): boolean {
  const { limit, ttl, by = 'source', ...others } = (value ?? {}) as Partial<RateLimitOptions>;
  if (Object.keys(others).length > 0) return false;
  return isPositiveInteger(limit) && isPositiveNumber(ttl) && (by === 'source' || by === 'address');
}

/** Options of the routes that SDKs post to. */
export class IngestOptions {
  /**
   * Path prefix of every route, without leading and trailing slashes.
   * @default 'v1'
   */
  @Must(
    'be a path such as "v1", without leading or trailing slashes and without "." or ".." as a part',
    (value) => typeof value === 'string' && /^(?!(.*\/)?\.{1,2}(\/|$))[\w.~-]+(\/[\w.~-]+)*$/.test(value),
  )
  prefix: string = 'v1';

  /**
   * What the endpoint receives requests before. `'middleware'`: everything in the application, IP allow lists in its
   * middleware included. `'router'`: the application's middleware and hooks come first, then the endpoint.
   * @default 'middleware'
   * @see docs/ingest.md, "Your middleware"
   */
  @Must("be 'middleware' or 'router'", (value) => value === 'middleware' || value === 'router')
  before: 'middleware' | 'router' = 'middleware';

  /**
   * URL under which SDKs reach this application, such as `https://relay.example`: the settings that mobile and browser
   * SDKs load name it. Default: the `Host` of each request.
   * @see docs/ingest.md, "Settings of mobile and browser SDKs"
   */
  @IfGiven()
  @Must('be an http or https URL without user info, query and fragment', isBaseUrl)
  publicUrl?: string;

  /**
   * Which web pages may post from a browser: `true` for all, or only those of certain origins. Cookies are ignored.
   * @default false
   * @see docs/ingest.md, "Browsers"
   */
  @Must(
    'be true, false, or an object whose origin is one or more origins such as "https://shop.example" or "https://*.shop.example"',
    isCors,
  )
  cors: boolean | CorsOptions = false;

  /**
   * Maximum number of requests that each source, or each client address, may send to each process. Requests above it
   * are answered with 429 and `Retry-After`. Default: no limit.
   * @see docs/ingest.md, "Limits"
   */
  @IfGiven()
  @Must(
    "be { limit, ttl, by? }, where limit is a whole number above 0, ttl is a number of milliseconds above 0, and by is 'source' or 'address'",
    isRateLimit,
  )
  rateLimit?: RateLimitOptions;

  /**
   * Returns the client's IP address, for applications behind a proxy. If it returns no IP address, the address of the
   * connection is used. Trust a header only if the proxy sets it. Default: the address of the connection.
   */
  @IfGiven()
  @Must('be a function', (value) => typeof value === 'function')
  clientAddress?: (request: IncomingMessage) => string | undefined;
}
