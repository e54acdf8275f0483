import { ValidateNested } from 'class-validator';

import { Must, toOptions } from '../../common/options.rules.js';
import { type IdentityResolver, identityOfUser } from './ambient-identity.js';

const Switch = () => Must('be true or false', (value) => typeof value === 'boolean');

/** Which facts of an HTTP request go into the `context` of the events that are recorded in it. */
export class ContextOptions {
  /**
   * `context.ip`: the client's address, as the platform computes it.
   * @default true
   */
  @Switch()
  ip: boolean = true;

  /**
   * `context.userAgent`: the header `User-Agent`.
   * @default true
   */
  @Switch()
  userAgent: boolean = true;

  /**
   * `context.locale`: the first language that the client accepts.
   * @default true
   */
  @Switch()
  locale: boolean = true;

  /**
   * `context.page`: `path`, `url` and `referrer`, without their queries, which may hold secrets.
   * @default true
   */
  @Switch()
  page: boolean = true;
}

/** What an instance adds to messages that do not have it. */
export interface AmbientOptions {
  /**
   * Who a request's events are attributed to. Called when an event is recorded, after guards have run.
   *
   * @default `request.user?.id ?? request.user?.sub` as `userId`
   * @see docs/contexts.md, "Who an event is about"
   */
  identity?: IdentityResolver | undefined;
  /**
   * Which facts of a request go into the `context` of its events; `false`: none, `true`: all.
   *
   * @default true
   * @see docs/contexts.md, "What goes into `context`"
   */
  context?: boolean | Partial<ContextOptions> | undefined;
  /**
   * Whether an event of an HTTP request without a known user gets an `anonymousId`: the one in the cookie
   * `ajs_anonymous_id` of the browser SDK, or a random one, the same for all events of the request.
   * `false`: recording it throws a `ValidationError`, as it does outside a request.
   *
   * @default true
   * @see docs/contexts.md, "Visitors who are not signed in"
   */
  anonymous?: boolean | undefined;
}

/** The rules and defaults of `AmbientOptions`. */
export class CheckedAmbientOptions {
  @Must('be a function of the request', (value) => typeof value === 'function')
  identity: IdentityResolver = identityOfUser;

  @Switch()
  anonymous: boolean = true;

  @ValidateNested({ message: 'must be true, false or an object of switches' })
  context: ContextOptions = new ContextOptions();
}

/** The switches that the option `context` stands for. */
export function toContextOptions(given: unknown): ContextOptions {
  const none = { ip: false, userAgent: false, locale: false, page: false };
  return toOptions(ContextOptions, typeof given === 'boolean' ? (given ? {} : none) : given);
}
