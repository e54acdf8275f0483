/** Text that a header can contain unencoded. A percent sign is excluded, because it would look like an encoding. */
const HEADER_SAFE = /^[\x21-\x24\x26-\x7e]+$/;

/** A part of a webhook id: no colon, which joins the parts, and no full stop, which separates the signed fields. */
const PART_SAFE = /^[\w-]+$/;

/**
 * Returns the messageId for `X-Message-Id`: percent-encoded as a whole if it has spaces, control characters, `%` or
 * characters outside ASCII, otherwise unchanged. Different ids stay different. `decodeURIComponent` restores the id,
 * but throws for an id with half a surrogate pair.
 */
export function toMessageIdHeader(messageId: string): string {
  return HEADER_SAFE.test(messageId) ? messageId : encode(messageId);
}

/**
 * Returns the `webhook-id` of a message, such as `shop:<messageId>`: message ids are unique only within their source.
 */
export function toWebhookId(source: string, messageId: string): string {
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
