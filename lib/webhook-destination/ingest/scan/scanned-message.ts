import type { MessageType } from '../../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../../client/message/message.limits.js';
import type { JsonText } from '../../http/body.reader.js';
import { memberOf } from '../parsed-message.js';
import { AN_OBJECT, type PostedMessage, TEXT_FIELDS, type TextField } from '../posted-message.interface.js';
import { OPEN_BRACE, QUOTE } from './json-scanner.js';

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

/** Minimum length of a slice in V8. Shorter parts are copied, and do not keep the whole string in memory. */
const SHORTEST_SLICE = 13;

/**
 * A message whose text is exactly what `JSON.stringify` would write, as SDKs written in JavaScript send it. Its fields
 * are forwarded as received, and are neither parsed nor serialized.
 */
export class ScannedMessage implements PostedMessage {
  readonly value: Readonly<Record<ScannedField, unknown>>;
  /** In the order of `TEXT_FIELDS`. */
  private readonly texts = new Array<string | undefined>(TEXT_FIELDS.length);

  /**
   * @param start where the message begins, in bytes
   * @param size size of the message, in bytes
   * @param spans spans of its fields; the table is reused for the next message
   * @param escaped whether one of its strings may have a backslash
   * @param type overrides the message's own type
   */
  constructor(
    private readonly source: JsonText,
    private readonly start: number,
    private readonly size: number,
    spans: Int32Array,
    private readonly escaped: boolean,
    private readonly type?: MessageType,
  ) {
    for (let index = 0; index < TEXT_FIELDS.length; index++) {
      const start = spans[2 * index]!;
      const end = spans[2 * index + 1]!;
      this.texts[index] = end === 0 || this.isAsGoodAsAbsent(start, end) ? undefined : source.text.slice(start, end);
    }
    this.value = {
      type: type ?? this.read(spans, PLACES.type),
      messageId: this.read(spans, PLACES.messageId, true),
      userId: this.read(spans, PLACES.userId, true),
      anonymousId: this.read(spans, PLACES.anonymousId),
      previousId: this.read(spans, PLACES.previousId),
      groupId: this.read(spans, PLACES.groupId),
      event: this.read(spans, PLACES.event),
      name: this.read(spans, PLACES.name),
      category: this.read(spans, PLACES.category),
      properties: this.read(spans, PLACES.properties),
      traits: this.read(spans, PLACES.traits),
      context: this.read(spans, PLACES.context),
      timestamp: this.read(spans, PLACES.timestamp),
      _metadata: this.read(spans, PLACES._metadata),
      originalTimestamp: this.read(spans, PLACES.originalTimestamp),
      integrations: this.parse(spans, PLACES.integrations),
      sentAt: this.read(spans, PLACES.sentAt),
      writeKey: this.read(spans, PLACES.writeKey),
    };
  }

  isTooDeep(): boolean {
    return false; // a scan ends at a message that is too deep
  }

  isTooLarge(): boolean {
    return this.size > MAX_MESSAGE_BYTES;
  }

  json(field: TextField): string | undefined {
    return this.texts[PLACES[field] / 2];
  }

  integration(name: string): unknown {
    return memberOf(this.value.integrations, name);
  }

  whole(): unknown {
    const { start, size, type } = this;
    const posted = JSON.parse(this.source.bytes.toString('utf8', start, start + size)) as object;
    return type ? { ...posted, type } : posted;
  }

  private isAsGoodAsAbsent(start: number, end: number): boolean {
    const first = this.source.bytes[start];
    return first === N_OF_NULL || (first === QUOTE && end - start === 2);
  }

  /** @param isKept whether the value outlives the request: a slice would keep the whole text of the request */
  private read(spans: Int32Array, place: number, isKept = false): unknown {
    const end = spans[place + 1]!;
    if (end === 0) return undefined;
    const start = spans[place]!;
    const { bytes } = this.source;
    if (bytes[start] === OPEN_BRACE) return AN_OBJECT;
    if (bytes[start] === QUOTE) {
      const isCopied = isKept && end - start >= SHORTEST_SLICE;
      const content = isCopied ? this.copy(start + 1, end - 1) : this.decode(start + 1, end - 1);
      if (!this.escaped || !content.includes('\\')) return content;
    }
    return JSON.parse(this.decode(start, end));
  }

  private parse(spans: Int32Array, place: number): unknown {
    const start = spans[place]!;
    const end = spans[place + 1]!;
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
