import type { MessageType } from '../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { BODY_FIELDS } from '../routing/webhook.body.js';
import { memberOf, type PostedMessage } from './posted.message.js';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const N_OF_NULL = 0x6e;

/** Fields of a message, in their order in the table of spans. */
export const SCANNED_FIELDS = [
  ...BODY_FIELDS,
  'type',
  'messageId',
  'integrations',
  'originalTimestamp',
  'sentAt',
  'writeKey',
] as const;

type ScannedField = (typeof SCANNED_FIELDS)[number];

/** Where a field's span is in the table of spans: a start and an end, which is 0 where the field is not there. */
const SPANS = Object.fromEntries(SCANNED_FIELDS.map((field, index) => [field, 2 * index])) as Record<
  ScannedField,
  number
>;

/** What stands for an object that is not looked into. */
const AN_OBJECT = Object.freeze({});

/** Shorter parts of a string are strings of their own to V8, and do not keep it in memory. */
const SHORTEST_SLICE = 13;

/** Posted JSON. */
export interface ScannedText {
  readonly bytes: Buffer;
  /** The same as a string, where that is ASCII. */
  readonly text: string | undefined;
}

/**
 * A message whose text is to the byte what `JSON.stringify` would make of it, as SDKs written in JavaScript send it:
 * its fields go on as they came, and are neither parsed nor stringified.
 */
export class ScannedMessage implements PostedMessage {
  readonly value: Readonly<Record<ScannedField, unknown>>;
  readonly isAscii: boolean;
  private readonly texts = new Array<string | undefined>(BODY_FIELDS.length);

  /**
   * @param size in bytes
   * @param spans of its fields; the table is used again for the next message
   * @param escaped whether a string of it may hold a backslash
   * @param type where that is not the message's own
   */
  constructor(
    private readonly source: ScannedText,
    private readonly size: number,
    spans: Int32Array,
    private readonly escaped: boolean,
    type?: MessageType,
  ) {
    this.isAscii = source.text !== undefined;
    for (let place = 0; place < BODY_FIELDS.length; place++) {
      const start = spans[2 * place]!;
      const end = spans[2 * place + 1]!;
      this.texts[place] = end === 0 || this.isAsGoodAsAbsent(start, end) ? undefined : this.slice(start, end);
    }
    this.value = {
      type: type ?? this.read(spans, SPANS.type),
      messageId: this.read(spans, SPANS.messageId, true),
      userId: this.read(spans, SPANS.userId, true),
      anonymousId: this.read(spans, SPANS.anonymousId),
      previousId: this.read(spans, SPANS.previousId),
      groupId: this.read(spans, SPANS.groupId),
      event: this.read(spans, SPANS.event),
      name: this.read(spans, SPANS.name),
      category: this.read(spans, SPANS.category),
      properties: this.read(spans, SPANS.properties),
      traits: this.read(spans, SPANS.traits),
      context: this.read(spans, SPANS.context),
      timestamp: this.read(spans, SPANS.timestamp),
      originalTimestamp: this.read(spans, SPANS.originalTimestamp),
      integrations: this.parse(spans, SPANS.integrations),
      sentAt: this.read(spans, SPANS.sentAt),
      writeKey: this.read(spans, SPANS.writeKey),
    };
  }

  isTooDeep(): boolean {
    return false; // one that is would not have been scanned
  }

  isTooLarge(): boolean {
    return this.size > MAX_MESSAGE_BYTES;
  }

  json(place: number): string | undefined {
    return this.texts[place];
  }

  integration(name: string): unknown {
    return memberOf(this.value.integrations, name);
  }

  private isAsGoodAsAbsent(start: number, end: number): boolean {
    const first = this.source.bytes[start];
    return first === N_OF_NULL || (first === QUOTE && end - start === 2);
  }

  /** @param isKept whether it outlives the request: a slice of the request's text would keep all of that */
  private read(spans: Int32Array, place: number, isKept = false): unknown {
    const end = spans[place + 1]!;
    if (end === 0) return undefined;
    const start = spans[place]!;
    const { bytes } = this.source;
    if (bytes[start] === OPEN_BRACE) return AN_OBJECT;
    if (bytes[start] === QUOTE) {
      const isCopied = isKept && end - start >= SHORTEST_SLICE;
      const content = isCopied ? this.copy(start + 1, end - 1) : this.slice(start + 1, end - 1);
      if (!this.escaped || !content.includes('\\')) return content;
    }
    return JSON.parse(this.slice(start, end));
  }

  private parse(spans: Int32Array, place: number): unknown {
    const start = spans[place]!;
    const end = spans[place + 1]!;
    if (end === 0) return undefined;
    const isEmpty = end - start === 2 && this.source.bytes[start] === OPEN_BRACE;
    return isEmpty ? AN_OBJECT : JSON.parse(this.slice(start, end));
  }

  private slice(start: number, end: number): string {
    return this.source.text?.slice(start, end) ?? this.copy(start, end);
  }

  private copy(start: number, end: number): string {
    const { bytes, text } = this.source;
    return bytes.toString(text === undefined ? 'utf8' : 'latin1', start, end);
  }
}
