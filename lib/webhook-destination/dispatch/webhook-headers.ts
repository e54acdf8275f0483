import { createSecretKey, type KeyObject } from 'node:crypto';

import type { DestinationOptions } from './destination.options.js';
import type { NewDelivery } from '../queue/delivery.interface.js';
import { hmacOf } from '../receiver/signature.util.js';
import { signAsymmetric, signStandardWebhook } from '../receiver/standard-webhook.util.js';
import { isSymmetric, privateKeyOf, toStandardKey } from '../receiver/webhook-secret.rules.js';

/** `User-Agent` of every webhook. */
const USER_AGENT = 'nestjs-analytics-relay/1.0';

/** Text that a header can contain unencoded. A percent sign is excluded, because it would look like an encoding. */
const HEADER_SAFE = /^[\x21-\x24\x26-\x7e]+$/;

/** A part of a webhook id: no colon, which joins the parts, and no full stop, which separates the signed fields. */
const PART_SAFE = /^[\w-]+$/;

/**
 * Creates the headers of one destination's requests, including the signatures.
 * @see docs/specification.md, "Webhook requests" and "Signatures"
 */
export class WebhookHeaders {
  private readonly common: Record<string, string>;
  private readonly current: KeyObject | undefined;
  private readonly previous: KeyObject | undefined;
  private readonly standard: StandardSigner[];

  constructor({ headers, sharedSecret, standardWebhooks = true }: DestinationOptions) {
    const secrets = [sharedSecret ?? []].flat();
    // In one spelling, so that it replaces the user info of a URL.
    const own = Object.entries(headers).map(([name, value]): [string, string] =>
      /^authorization$/i.test(name) ? ['Authorization', value] : [name, value],
    );
    this.common = { ...Object.fromEntries(own), 'Content-Type': 'application/json', 'User-Agent': USER_AGENT };
    [this.current, this.previous] = secrets.map((secret) =>
      isSymmetric(secret) ? createSecretKey(secret, 'utf8') : undefined,
    );
    this.standard = standardWebhooks ? secrets.flatMap((secret) => signerOf(secret) ?? []) : [];
  }

  /**
   * Returns the headers of one attempt.
   *
   * @param body the bytes that are sent; undefined for a preview, whose signatures are empty
   * @param now when they are sent, in ms since the epoch
   */
  for({ source, messageId }: NewDelivery, body: Buffer | undefined, now: number): Record<string, string> {
    // No spread copy: V8 takes 2 us to add fields to one.
    const headers: Record<string, string> = Object.assign({}, this.common);
    headers['X-Message-Id'] = toMessageIdHeader(messageId);
    if (this.current) headers['X-Signature'] = body ? hmacOf(body, this.current) : '';
    if (this.previous) headers['X-Signature-Previous'] = body ? hmacOf(body, this.previous) : '';
    if (this.standard.length > 0) {
      const id = toWebhookId(source, messageId);
      const timestamp = String(Math.floor(now / 1000));
      headers['webhook-id'] = id;
      headers['webhook-timestamp'] = timestamp;
      headers['webhook-signature'] = body ? this.standard.map((sign) => sign(id, timestamp, body)).join(' ') : '';
    }
    return headers;
  }
}

type StandardSigner = (id: string, timestamp: string, body: Buffer) => string;

/** Returns what makes the Standard Webhooks signature of a secret; undefined if the secret is too short for one. */
function signerOf(secret: string): StandardSigner | undefined {
  if (!isSymmetric(secret)) {
    let privateKey: KeyObject | undefined; // made once, and only for a destination that has something to send
    return (...signed) => signAsymmetric(...signed, (privateKey ??= privateKeyOf(secret)!));
  }
  const bytes = toStandardKey(secret);
  if (!bytes) return undefined;
  const key = createSecretKey(bytes);
  return (...signed) => signStandardWebhook(...signed, key);
}

/**
 * Returns the messageId for `X-Message-Id`: percent-encoded as a whole if it has spaces, control characters, `%` or
 * characters outside ASCII, otherwise unchanged. Different ids stay different. `decodeURIComponent` restores the id,
 * but throws for an id with half a surrogate pair.
 */
function toMessageIdHeader(messageId: string): string {
  return HEADER_SAFE.test(messageId) ? messageId : encode(messageId);
}

/**
 * Returns the `webhook-id` of a message, such as `shop:<messageId>`: message ids are unique only within their source.
 */
function toWebhookId(source: string, messageId: string): string {
  return `${toPart(source)}:${toPart(messageId)}`;
}

function toPart(text: string): string {
  return PART_SAFE.test(text) ? text : encode(text).replaceAll('.', '%2E');
}

/** Encodes as `encodeURIComponent` does. Lone surrogates, which it refuses, become the bytes UTF-8 reserves for them. */
function encode(text: string): string {
  const parts = text.split(/(\p{Cs})/u);
  return parts.map((part, index) => (index % 2 === 0 ? encodeURIComponent(part) : encodeSurrogate(part))).join('');
}

function encodeSurrogate(surrogate: string): string {
  const code = surrogate.charCodeAt(0);
  const bytes = [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase()}`).join('');
}
