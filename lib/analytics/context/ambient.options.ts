import { ValidateNested } from 'class-validator';

import { Must, toOptions } from '../../common/options.rules.js';
import { type IdentityResolver, identityOfUser } from './ambient-identity.js';
import { ContextOptions } from './context.options.js';

/** What an instance adds to messages that do not have it. */
export interface AmbientOptions {
  /**
   * Who a request's events are attributed to. Called when an event is recorded, after guards have run.
   *
   * @default `request.user?.id ?? request.user?.sub` as `userId`
   */
  identity?: IdentityResolver | undefined;
  /**
   * Which facts of a request go into the `context` of its events; `false`: none, `true`: all.
   *
   * @default true
   */
  context?: boolean | Partial<ContextOptions> | undefined;
  /**
   * Whether an event of an HTTP request without a known user gets an `anonymousId`: the one in the cookie
   * `ajs_anonymous_id` of the browser SDK, or a random one, the same for all events of the request.
   * `false`: recording it throws a `ValidationError`, as it does outside a request.
   *
   * @default true
   */
  anonymous?: boolean | undefined;
}

/** The rules and defaults of `AmbientOptions`. */
export class CheckedAmbientOptions {
  @Must('be a function of the request', (value) => typeof value === 'function')
  identity: IdentityResolver = identityOfUser;

  @Must('be true or false', (value) => typeof value === 'boolean')
  anonymous: boolean = true;

  @ValidateNested({ message: 'must be true, false or an object of switches' })
  context: ContextOptions = new ContextOptions();
}

/** The switches that the option `context` stands for. */
export function toContextOptions(given: unknown): ContextOptions {
  const none = { ip: false, userAgent: false, locale: false, page: false };
  return toOptions(ContextOptions, typeof given === 'boolean' ? (given ? {} : none) : given);
}
