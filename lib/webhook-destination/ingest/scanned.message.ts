import type { MessageType } from '../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { BODY_FIELDS, type BodyField } from '../routing/webhook.body.js';
import type { PostedMessage } from './posted.message.js';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;

/** Fields of a message, in their order in the table of spans; the first are those that a webhook can carry. */
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

/** Where a field's span is among those of its message. */
const PLACES = Object.fromEntries(SCANNED_FIELDS.map((field, index) => [field, 2 + 2 * index])) as Record<
  ScannedField,
  number
>;

/** Places of a message in the table of spans: its own, then those of its fields, each a start and an end. */
export const STRIDE = 2 + 2 * SCANNED_FIELDS.length;

/** What stands for an object that is not looked into. */
const AN_OBJECT = Object.freeze({});

/** Posted JSON, and where in it messages and their fields are. */
export interface ScannedText {
  readonly bytes: Buffer;
  /** The same as a string, where that is ASCII. */
  readonly text: string | undefined;
  /** An end of 0 is that of a field that is not there. */
  readonly spans: number[];
}

/**
 * A message whose text is to the byte what `JSON.stringify` would make of it, as SDKs written in JavaScript send it:
 * its fields go on as they came, and are neither parsed nor stringified.
 */
export class ScannedMessage implements PostedMessage {
  readonly value: Readonly<Record<ScannedField, unknown>>;

  /**
   * @param place of its spans
   * @param type where that is not the message's own
   */
  constructor(
    private readonly source: ScannedText,
    private readonly place: number,
    type?: MessageType,
  ) {
    this.value = {
      type: type ?? this.read(PLACES.type),
      messageId: this.read(PLACES.messageId, true),
      userId: this.read(PLACES.userId, true),
      anonymousId: this.read(PLACES.anonymousId),
      previousId: this.read(PLACES.previousId),
      groupId: this.read(PLACES.groupId),
      event: this.read(PLACES.event),
      name: this.read(PLACES.name),
      category: this.read(PLACES.category),
      properties: this.read(PLACES.properties),
      traits: this.read(PLACES.traits),
      context: this.read(PLACES.context),
      timestamp: this.read(PLACES.timestamp),
      originalTimestamp: this.read(PLACES.originalTimestamp),
      integrations: this.parse(PLACES.integrations),
      sentAt: this.read(PLACES.sentAt),
      writeKey: this.read(PLACES.writeKey),
    };
  }

  get isAscii(): boolean {
    return this.source.text !== undefined;
  }

  isTooDeep(): boolean {
    return false; // one that is would not have been scanned
  }

  isTooLarge(): boolean {
    const { spans } = this.source;
    return spans[this.place + 1]! - spans[this.place]! > MAX_MESSAGE_BYTES;
  }

  json(field: BodyField): string {
    const { spans } = this.source;
    const at = this.place + PLACES[field];
    return this.slice(spans[at]!, spans[at + 1]!);
  }

  /** @param isKept whether it outlives the request: a slice of the request's text would keep all of that */
  private read(place: number, isKept = false): unknown {
    const { bytes, spans } = this.source;
    const end = spans[this.place + place + 1]!;
    if (end === 0) return undefined;
    const start = spans[this.place + place]!;
    if (bytes[start] === OPEN_BRACE) return AN_OBJECT;
    if (bytes[start] === QUOTE) {
      const content = isKept ? this.copy(start + 1, end - 1) : this.slice(start + 1, end - 1);
      if (!content.includes('\\')) return content;
    }
    return JSON.parse(this.slice(start, end));
  }

  private parse(place: number): unknown {
    const { spans } = this.source;
    const end = spans[this.place + place + 1]!;
    return end === 0 ? undefined : JSON.parse(this.slice(spans[this.place + place]!, end));
  }

  private slice(start: number, end: number): string {
    return this.source.text?.slice(start, end) ?? this.copy(start, end);
  }

  private copy(start: number, end: number): string {
    const { bytes, text } = this.source;
    return bytes.toString(text === undefined ? 'utf8' : 'latin1', start, end);
  }
}
