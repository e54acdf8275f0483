import { IfGiven, Must, MustIfPresent } from '../../common/options.rules.js';
import { isUsableSecret, MIN_STANDARD_KEY_BYTES } from '../receiver/webhook-secret.rules.js';
import { RoutingOptions } from '../routing/routing.options.js';
import { areHeaders } from './header.rules.js';
import { isRetryOn, type RetryOn } from './url.outcome.js';

/** URLs that one destination may have (§1, §8). */
const MAX_URLS = 5;

function isSharedSecret(value: unknown): boolean {
  if (!Array.isArray(value)) return isUsableSecret(value);
  return value.length === 2 && value.every(isUsableSecret) && value[0] !== value[1];
}

// The URL parser would drop line breaks and tabs, and so post to another place than the one that is read here.
const isWebhookUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\/[^\s\\/?#]\S*$/i.test(value) && URL.canParse(value);

/** Where messages go: a set of URLs of one receiver (§1). */
export class DestinationOptions extends RoutingOptions {
  /** One to five URLs; the first to answer with success settles a message (§4.1). */
  @Must(
    `hold 1 to ${MAX_URLS} URLs (§1)`,
    (value) => !Array.isArray(value) || (value.length > 0 && value.length <= MAX_URLS),
  )
  @Must('not hold a URL twice', (value) => !Array.isArray(value) || new Set(value).size === value.length)
  @Must('be an array of http or https URLs', (value) => Array.isArray(value) && value.every(isWebhookUrl))
  urls!: string[];

  /**
   * Headers added to every request (§1).
   * @default {}
   */
  @Must(
    'map header names to strings without line breaks, and set none that the relay or the connection sets itself',
    areHeaders,
  )
  headers: Record<string, string> = {};

  /**
   * Signs every request (§5.1). One that begins with `whsec_` must go on with base64 of at least 24 bytes:
   * `whsec_$(openssl rand -base64 32)`. While it is rotated, `[current, previous]`: the signature under the previous one
   * then goes along in `X-Signature-Previous`. `undefined` is refused, so that a variable that is not set does not switch
   * signing off. Default: requests are not signed.
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
   * Which answers of its URLs are tried again.
   * @default delivery.retryOn
   */
  @IfGiven()
  @Must("be 'spec' or 'any-failure'", isRetryOn)
  retryOn?: RetryOn;
}
