import { isMessageType } from '../../client/message/message.rules.js';
import type { MessageType } from '../../client/message/message.interface.js';
import { IfGiven, Must, MustIfPresent } from '../../common/options.rules.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { areHeaders } from '../dispatch/header.rules.js';
import { isRetryOn, type RetryOn } from '../dispatch/url.outcome.js';
import { isUsableSecret, MIN_STANDARD_KEY_BYTES } from '../receiver/webhook-secret.rules.js';

/** URLs that one destination may have (§1, §8). */
const MAX_URLS = 5;

function isSharedSecret(value: unknown): boolean {
  if (!Array.isArray(value)) return isUsableSecret(value);
  return value.length === 2 && value.every(isUsableSecret) && value[0] !== value[1];
}

const isFilledArray = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;

// The URL parser would drop line breaks and tabs, and so post to another place than the one that is read here.
const isWebhookUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\/[^\s\\/?#]\S*$/i.test(value) && URL.canParse(value);

/** Where messages go: a set of URLs of one receiver (§1). */
export class DestinationOptions {
  /**
   * The key looked for in a message's `integrations`, case sensitive.
   * @default 'Webhooks'
   */
  @Must('be a non-empty string, and not All', (value) => isNonEmptyString(value) && value !== 'All')
  name: string = 'Webhooks';

  /**
   * Whether messages are sent to it.
   * @default true
   */
  @Must('be a boolean', (value) => typeof value === 'boolean')
  enabled: boolean = true;

  /** Names of the sources whose messages it gets; `undefined` is refused. Default: every source. */
  @MustIfPresent(
    'be an array of one or more source names',
    (value) => isFilledArray(value) && value.every(isNonEmptyString),
  )
  sources?: string[];

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
   * Kinds of message it gets; delete notifications come whatever is named, so `['delete']` is for those alone.
   * `undefined` is refused. Default: all.
   */
  @MustIfPresent(
    'be an array of one or more of identify, track, page, screen, group, alias, delete',
    (value) => isFilledArray(value) && value.every((type) => isMessageType(type) || type === 'delete'),
  )
  types?: (MessageType | 'delete')[];

  /**
   * Which answers of its URLs are tried again.
   * @default delivery.retryOn
   */
  @IfGiven()
  @Must("be 'spec' or 'any-failure'", isRetryOn)
  retryOn?: RetryOn;
}
