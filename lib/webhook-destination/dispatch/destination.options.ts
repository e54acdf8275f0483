import { IfGiven, Must, MustIfPresent } from '../../common/options.rules.js';
import { isUsableSecret, MIN_STANDARD_KEY_BYTES } from '../receiver/webhook-secret.rules.js';
import { RoutingOptions } from '../routing/routing.options.js';
import { areHeaders } from './header.rules.js';
import { isRetryOn, type RetryOn } from './url.outcome.js';

/** Most URLs of one destination. */
const MAX_URLS = 5;

function isSharedSecret(value: unknown): boolean {
  if (!Array.isArray(value)) return isUsableSecret(value);
  return value.length === 2 && value.every(isUsableSecret) && value[0] !== value[1];
}

// The URL parser would drop line breaks and tabs, and so post to another place than the one that is read here.
const isWebhookUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\/[^\s\\/?#]\S*$/i.test(value) && URL.canParse(value);

/**
 * Where messages go: the webhook URLs of one receiver.
 * @see docs/specification.md, "Destinations"
 */
export class DestinationOptions extends RoutingOptions {
  /** One to five URLs; the first success settles a message. */
  @Must(
    `hold 1 to ${MAX_URLS} URLs`,
    (value) => !Array.isArray(value) || (value.length > 0 && value.length <= MAX_URLS),
  )
  @Must('not hold a URL twice', (value) => !Array.isArray(value) || new Set(value).size === value.length)
  @Must('be an array of http or https URLs', (value) => Array.isArray(value) && value.every(isWebhookUrl))
  urls!: string[];

  /**
   * Headers added to every request.
   * @default {}
   */
  @Must(
    'map header names to strings without line breaks, and set none that the relay or the connection sets itself',
    areHeaders,
  )
  headers: Record<string, string> = {};

  /**
   * Signs every request. After `whsec_`, it must be base64 of at least 24 bytes: `whsec_$(openssl rand -base64 32)`.
   * During rotation, `[current, previous]`: `X-Signature-Previous` then has the signature under the previous one.
   * `undefined` is refused, so that an unset variable does not disable signing. Default: requests are not signed.
   * @see docs/specification.md, "Signatures"
   */
  @MustIfPresent(
    `be a non-empty string, or [current, previous] of two that differ; after whsec_, base64 of at least ${MIN_STANDARD_KEY_BYTES} bytes`,
    isSharedSecret,
  )
  sharedSecret?: string | [current: string, previous: string];

  /**
   * Whether requests also carry `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks, signed
   * with `sharedSecret`: base64 after `whsec_`, or else its text, of at least 24 bytes. `true` refuses a shorter one.
   * Default: they do under each secret that is long enough.
   */
  @IfGiven()
  @Must('be a boolean', (value) => typeof value === 'boolean')
  standardWebhooks?: boolean;

  /**
   * Which answers of its URLs are retried.
   * @default delivery.retryOn
   */
  @IfGiven()
  @Must("be 'spec' or 'any-failure'", isRetryOn)
  retryOn?: RetryOn;
}
