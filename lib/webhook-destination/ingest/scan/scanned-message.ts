import type { MessageType } from '../../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../../client/message/message.limits.js';
import type { JsonText } from '../body.reader.js';
import { memberOf } from '../parsed-message.js';
import { type PostedMessage, TEXT_FIELDS, type TextField } from '../posted-message.interface.js';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const N_OF_NULL = 0x6e;

/** Fields of a message, in the order of the span table. */
export const SCANNED_FIELDS = [
  ...TEXT_FIELDS,
  'type',
  'messageId',
  'integrations',
  'originalTimestamp',
  'sentAt',
  'writeKey',
] as const;

type ScannedField = (typeof SCANNED_FIELDS)[number];

/** Position of each field's span in the table: a start and an end, which is 0 if the field is absent. */
const PLACES = Object.fromEntries(SCANNED_FIELDS.map((field, index) => [field, 2 * index])) as Record<
  ScannedField,
  number
>;

/** Placeholder for an object that is not parsed. */
const AN_OBJECT = Object.freeze({});

/** Minimum length of a slice in V8. Shorter parts are copied, and do not keep the whole string in memory. */
const SHORTEST_SLICE = 13;

/**
 * A message whose text is exactly what `JSON.stringify` would write, as SDKs written in JavaScript send it. Its fields
 * are forwarded as received, and are neither parsed nor serialized.
 */
export class ScannedMessage implements PostedMessage {
  readonly value: Readonly<Record<ScannedField, unknown>>;
  private readonly texts: Partial<Record<TextField, string>> = {};

  /**
   * @param size size of the message, in bytes
   * @param spans spans of its fields; the table is reused for the next message
   * @param escaped whether one of its strings may have a backslash
   * @param type overrides the message's own type
   */
  constructor(
    private readonly source: JsonText,
    private readonly size: number,
    spans: Int32Array,
    private readonly escaped: boolean,
    type?: MessageType,
  ) {
    for (const field of TEXT_FIELDS) {
      const start = spans[PLACES[field]]!;
      const end = spans[PLACES[field] + 1]!;
      if (end > 0 && !this.isAsGoodAsAbsent(start, end)) this.texts[field] = source.text.slice(start, end);
    }
    this.value = {
      type: type ?? this.read(spans, 'type'),
      messageId: this.read(spans, 'messageId', true),
      userId: this.read(spans, 'userId', true),
      anonymousId: this.read(spans, 'anonymousId'),
      previousId: this.read(spans, 'previousId'),
      groupId: this.read(spans, 'groupId'),
      event: this.read(spans, 'event'),
      name: this.read(spans, 'name'),
      category: this.read(spans, 'category'),
      properties: this.read(spans, 'properties'),
      traits: this.read(spans, 'traits'),
      context: this.read(spans, 'context'),
      timestamp: this.read(spans, 'timestamp'),
      _metadata: this.read(spans, '_metadata'),
      originalTimestamp: this.read(spans, 'originalTimestamp'),
      integrations: this.parse(spans, 'integrations'),
      sentAt: this.read(spans, 'sentAt'),
      writeKey: this.read(spans, 'writeKey'),
    };
  }

  isTooDeep(): boolean {
    return false; // a scan ends at a message that is too deep
  }

  isTooLarge(): boolean {
    return this.size > MAX_MESSAGE_BYTES;
  }

  json(field: TextField): string | undefined {
    return this.texts[field];
  }

  integration(name: string): unknown {
    return memberOf(this.value.integrations, name);
  }

  private isAsGoodAsAbsent(start: number, end: number): boolean {
    const first = this.source.bytes[start];
    return first === N_OF_NULL || (first === QUOTE && end - start === 2);
  }

  /** @param isKept whether the value outlives the request: a slice would keep the whole text of the request */
  private read(spans: Int32Array, field: ScannedField, isKept = false): unknown {
    const end = spans[PLACES[field] + 1]!;
    if (end === 0) return undefined;
    const start = spans[PLACES[field]]!;
    const { bytes } = this.source;
    if (bytes[start] === OPEN_BRACE) return AN_OBJECT;
    if (bytes[start] === QUOTE) {
      const isCopied = isKept && end - start >= SHORTEST_SLICE;
      const content = isCopied ? this.copy(start + 1, end - 1) : this.decode(start + 1, end - 1);
      if (!this.escaped || !content.includes('\\')) return content;
    }
    return JSON.parse(this.decode(start, end));
  }

  private parse(spans: Int32Array, field: ScannedField): unknown {
    const start = spans[PLACES[field]]!;
    const end = spans[PLACES[field] + 1]!;
    if (end === 0) return undefined;
    const isEmpty = end - start === 2 && this.source.bytes[start] === OPEN_BRACE;
    return isEmpty ? AN_OBJECT : JSON.parse(this.decode(start, end));
  }

  private decode(start: number, end: number): string {
    const { text, isAscii } = this.source;
    return isAscii ? text.slice(start, end) : this.copy(start, end);
  }

  private copy(start: number, end: number): string {
    const { bytes, isAscii } = this.source;
    return bytes.toString(isAscii ? 'latin1' : 'utf8', start, end);
  }
}
