import { MAX_TIMER_DELAY } from '../../client/timer.limits.js';
import { IfGiven, Must, MustBeBoolean, MustIfPresent, MustPass } from '../../common/options.rules.js';
import { hasReadableUserInfo, isPositiveInteger, isPositiveNumber } from '../../common/value.util.js';
import { isMetadata, METADATA_RULE } from '../entry.rules.js';
import { isSigningSecret, MIN_STANDARD_KEY_BYTES } from '../receiver/webhook-secret.rules.js';
import { RoutingOptions } from '../routing/routing.options.js';
import type { BodyTransform } from './body-transform.js';
import { findBrokenHeaderRules } from '../transport/header.rules.js';
import { type DestinationRateLimit, isRateLimit, MAX_LIMITED_REQUESTS } from './request-limit.js';
import { isRetryOn, type RetryOn } from './outcome.util.js';

/** Maximum number of URLs of a destination. */
const MAX_URLS = 5;

/** Longest `retryWindow` of a destination, in ms: 7 days. */
const MAX_RETRY_WINDOW = 604_800_000;

function isSharedSecret(value: unknown): boolean {
  if (!Array.isArray(value)) return isSigningSecret(value);
  return value.length === 2 && value.every(isSigningSecret) && value[0] !== value[1];
}

// The URL parser drops line breaks and tabs, so requests would go to a different URL than the one written here.
export const isWebhookUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/[^\s\\/?#]\S*$/i.test(value) && URL.canParse(value);

/**
 * Where messages go: the webhook URLs of one receiver.
 * @see docs/specification.md, "Destinations"
 */
export class DestinationOptions extends RoutingOptions {
  /** One to five different http or https URLs. A message is delivered when one of them accepts it. */
  @Must(
    `contain 1 to ${MAX_URLS} URLs`,
    (value) => !Array.isArray(value) || (value.length > 0 && value.length <= MAX_URLS),
  )
  @Must('not contain the same URL twice', (value) => !Array.isArray(value) || new Set(value).size === value.length)
  @Must(
    'have user info that is percent-encoded: %25 for %',
    (value) => !Array.isArray(value) || value.filter(isWebhookUrl).every(hasReadableUserInfo),
  )
  @Must('contain only http or https URLs', (value) => !Array.isArray(value) || value.every(isWebhookUrl))
  @Must('be an array of http or https URLs', Array.isArray)
  urls!: string[];

  /**
   * Headers added to every request. Headers that the relay or the connection sets are refused.
   * @default {}
   */
  @MustPass(findBrokenHeaderRules)
  headers: Record<string, string> = {};

  /**
   * Secret that signs every request, without white space or a quote at an end. After `whsec_`, it must be base64 of at
   * least 24 bytes: `whsec_$(openssl rand -base64 32)`. After `whsk_`, it is the base64 of an Ed25519 private key:
   * `whsk_$(openssl rand -base64 32)`. Receivers then verify with its public key (`publicKeyOf`), and requests have no
   * `X-Signature`. During rotation, set `[current, previous]`: each signs in its own way, and `X-Signature-Previous` has
   * the signature under the previous secret. `undefined` is refused, so an unset variable does not disable signing.
   * Default: requests are not signed.
   * @see docs/specification.md, "Signatures"
   */
  @MustIfPresent(
    `be a non-empty string without white space or a quote at an end, or an array [current, previous] of two different ones; after whsec_, base64 of at least ${MIN_STANDARD_KEY_BYTES} bytes; after whsk_, of an Ed25519 private key; not whpk_, which is a public key`,
    isSharedSecret,
  )
  sharedSecret?: string | [current: string, previous: string];

  /**
   * Whether requests also carry the Standard Webhooks headers `webhook-id`, `webhook-timestamp` and
   * `webhook-signature`, signed with `sharedSecret`: the base64 after `whsec_` or `whsk_`, or else its text, of at least 24
   * bytes. With `true`, a shorter secret is refused; with `false`, a `whsk_` key. Default: `true` if the secret has 24
   * bytes or more.
   */
  @IfGiven()
  @MustBeBoolean()
  standardWebhooks?: boolean;

  /**
   * Which answers of its URLs are retried; see `delivery.retryOn`.
   * @default delivery.retryOn
   * @see docs/delivery.md, "An attempt"
   */
  @IfGiven()
  @Must("be 'spec' or 'any-failure'", isRetryOn)
  retryOn?: RetryOn;

  /**
   * How long a delivery to this destination is retried, in ms from its first attempt; at most 7 days.
   * @default delivery.retryWindow
   * @see docs/delivery.md, "Retries"
   */
  @IfGiven()
  @Must(
    `be a number of milliseconds above 0, at most ${MAX_RETRY_WINDOW} (7 days)`,
    (value) => isPositiveNumber(value) && value <= MAX_RETRY_WINDOW,
  )
  retryWindow?: number;

  /**
   * Maximum number of deliveries in flight to this destination. Whole number above 0.
   * @default delivery.concurrency
   */
  @IfGiven()
  @Must('be a whole number above 0', isPositiveInteger)
  concurrency?: number;

  /**
   * Maximum number of requests to this destination from each process within any `per` ms. An attempt makes one request
   * to each URL. Waiting deliveries use up no attempt. Default: no limit.
   * @see docs/destinations.md, "How fast"
   */
  @IfGiven()
  @Must(
    `be { requests, per }, where requests is a whole number from 1 to ${MAX_LIMITED_REQUESTS} and per is a number of milliseconds above 0, at most ${MAX_TIMER_DELAY}`,
    isRateLimit,
  )
  rateLimit?: DestinationRateLimit;

  /**
   * Creates the body that is sent, synchronously, before each attempt. If it returns undefined, nothing is sent, and
   * the delivery counts as delivered; if it throws, the delivery is dead. Default: the body is sent as accepted.
   * @see docs/destinations.md, "In which form"
   */
  @IfGiven()
  @Must('be a function', (value) => typeof value === 'function')
  transform?: BodyTransform;

  /**
   * Whether requests carry `traceparent` and `tracestate`. They identify the request's span or, without the option
   * `telemetry`, the trace in which the message was recorded in this process. A trace that came with a posted message
   * is never passed on.
   * @default false
   * @see docs/observability.md, "Traces"
   */
  @MustBeBoolean()
  propagateTrace: boolean = false;

  /**
   * Application data about the destination, such as a tenant id; not sent. At most 50 strings of at most 500
   * characters, with names of at most 40 characters.
   * @default {}
   */
  @Must(METADATA_RULE, isMetadata)
  metadata: Record<string, string> = {};
}
