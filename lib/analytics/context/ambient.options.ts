import { Must, MustBeBoolean, MustNest, toOptions } from '../../common/options.rules.js';
import { type IdentityResolver, identityOfUser } from './ambient-identity.js';

/** Facts of an HTTP request that are added to the `context` of events recorded during the request. */
export class ContextOptions {
  /**
   * Whether to add `context.ip`: the client's address, as the platform computes it.
   * @default true
   */
  @MustBeBoolean()
  ip: boolean = true;

  /**
   * Whether to add `context.userAgent`: the header `User-Agent`.
   * @default true
   */
  @MustBeBoolean()
  userAgent: boolean = true;

  /**
   * Whether to add `context.locale`: the first language that the client accepts.
   * @default true
   */
  @MustBeBoolean()
  locale: boolean = true;

  /**
   * Whether to add `context.page`: `path`, `url` and `referrer`, without their queries, which may contain secrets.
   * @default true
   */
  @MustBeBoolean()
  page: boolean = true;
}

/** Ids and context that an instance adds to messages without them. */
export interface AmbientOptions {
  /**
   * Returns the ids that a request's events are attributed to. Called when an event is recorded, after guards have run.
   *
   * @default `request.user?.id ?? request.user?.sub` as `userId`
   * @see docs/contexts.md, "Who an event is about"
   */
  identity?: IdentityResolver | undefined;
  /**
   * Facts of a request that are added to the `context` of its events: `true` adds all, `false` none.
   *
   * @default true
   * @see docs/contexts.md, "What goes into `context`"
   */
  context?: boolean | Partial<ContextOptions> | undefined;
  /**
   * Whether events of an HTTP request without a known user get an `anonymousId`: the one in the browser SDK's cookie
   * `ajs_anonymous_id`, or a random one that is the same for all events of the request. With `false`, recording such an
   * event throws a `ValidationError`.
   *
   * @default true
   * @see docs/contexts.md, "Visitors who are not signed in"
   */
  anonymous?: boolean | undefined;
}

/** The rules and defaults of `AmbientOptions`. */
export class CheckedAmbientOptions {
  @Must('be a function that takes the request', (value) => typeof value === 'function')
  identity: IdentityResolver = identityOfUser;

  @MustBeBoolean()
  anonymous: boolean = true;

  @MustNest('be true, false or an object of booleans')
  context: ContextOptions = new ContextOptions();
}

export function toContextOptions(given: unknown): ContextOptions {
  const none = { ip: false, userAgent: false, locale: false, page: false };
  return toOptions(ContextOptions, typeof given === 'boolean' ? (given ? {} : none) : given);
}
