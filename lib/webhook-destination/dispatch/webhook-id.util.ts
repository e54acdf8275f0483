/** What a header carries as it is; without the percent sign, so that nothing looks encoded that is not. */
const HEADER_SAFE = /^[\x21-\x24\x26-\x7e]+$/;

/** What a part of a webhook id is made of: no colon, which joins the parts, and no full stop, which ends what is signed. */
const PART_SAFE = /^[\w-]+$/;

/**
 * The messageId for `X-Message-Id`: percent-encoded as a whole if it has spaces, control characters, `%` or characters
 * outside ASCII, else as it is. No two ids become one. `decodeURIComponent` gives the id back, but throws for an id with
 * half a surrogate pair.
 */
export function toMessageIdHeader(messageId: string): string {
  return HEADER_SAFE.test(messageId) ? messageId : encode(messageId);
}

/** What `webhook-id` names a message by, such as `shop:<messageId>`: senders choose ids, each for its source alone. */
export function toWebhookId(source: string, messageId: string): string {
  return `${toPart(source)}:${toPart(messageId)}`;
}

function toPart(text: string): string {
  return PART_SAFE.test(text) ? text : encode(text).replaceAll('.', '%2E');
}

/** As `encodeURIComponent`, which refuses lone surrogates: they become the bytes that UTF-8 leaves out. */
function encode(text: string): string {
  const parts = text.split(/(\p{Cs})/u);
  return parts.map((part, index) => (index % 2 === 0 ? encodeURIComponent(part) : encodeSurrogate(part))).join('');
}

function encodeSurrogate(surrogate: string): string {
  const code = surrogate.charCodeAt(0);
  const bytes = [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase()}`).join('');
}
