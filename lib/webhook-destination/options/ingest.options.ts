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
}

const isOrigin = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value;

function isCors(value: unknown): boolean {
  if (typeof value === 'boolean') return true;
  const origins = [(value as CorsOptions | null)?.origin].flat();
  return origins.length > 0 && origins.every(isOrigin);
}

function isRateLimit(value: unknown): boolean {
  const { limit, ttl } = (value ?? {}) as Partial<RateLimitOptions>;
  return isPositiveInteger(limit) && isPositiveNumber(ttl);
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
   */
  @Must('be a boolean, or an object whose origin is one or more origins such as "https://shop.example"', isCors)
  cors: boolean | CorsOptions = false;

  /** How many requests each source may make; those above it are answered 429 with `Retry-After`. Default: no limit. */
  @IfGiven()
  @Must('have a whole number above 0 as limit and milliseconds above 0 as ttl', isRateLimit)
  rateLimit?: RateLimitOptions;
}
