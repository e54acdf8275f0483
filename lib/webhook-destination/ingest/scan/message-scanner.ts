import type { MessageType } from '../../../client/message/message.interface.js';
import type { JsonText } from '../body.reader.js';
import { ParsedMessage } from '../parsed-message.js';
import type { PostedMessage } from '../posted-message.interface.js';
import { CLOSE_BRACKET, COLON, COMMA, JsonScanner, OPEN_BRACE, OPEN_BRACKET, QUOTE, UNUSABLE } from './json-scanner.js';
import { SCANNED_FIELDS, ScannedMessage } from './scanned-message.js';

/** The fields by the hashes of their names: the name, and where its span is. */
const FIELDS = new Map(
  SCANNED_FIELDS.map((field, index) => {
    const name = Buffer.from(field);
    return [name.reduce((hash, byte) => (Math.imul(hash, 31) + byte) | 0, 0), { name, place: 2 * index }];
  }),
);

/** The spans of the fields of the message that is scanned; all scans use the same, as none is interrupted. */
const SPANS = new Int32Array(2 * SCANNED_FIELDS.length);

/**
 * Finds the messages of posted JSON without parsing them. It vouches for what it takes: a text that is not JSON is
 * never taken, and a message that is not to the byte what `JSON.stringify` would write is parsed.
 */
export class MessageScanner extends JsonScanner {
  readonly messages: PostedMessage[] = [];

  /** @param type that of the message, whatever it says itself */
  constructor(
    private readonly source: JsonText,
    private readonly type?: MessageType,
  ) {
    super(source.bytes);
  }

  /**
   * Takes the text as one message.
   *
   * @returns its fields
   * @throws UNUSABLE when a parser has to judge the text
   */
  single(): unknown {
    const start = this.expect(OPEN_BRACE, this.space(0));
    if (this.space(this.message(start)) !== this.bytes.length) throw UNUSABLE;
    return this.messages[0]!.value;
  }

  /**
   * Takes the text as an envelope of at most so many messages. The rest of it is little, and left to a parser, which so
   * vouches for what is around the batch.
   *
   * @returns the envelope, its batch empty
   * @throws UNUSABLE when a parser has to judge the text
   */
  envelope(most: number): unknown {
    const { bytes } = this;
    let start = 0;
    let end = 0;
    let at = this.space(0);
    this.expect(OPEN_BRACE, at);
    do {
      at = this.space(at + 1);
      const keyEnd = this.string(this.expect(QUOTE, at));
      const key = bytes.toString('latin1', at + 1, keyEnd - 1);
      at = this.space(this.expect(COLON, this.space(keyEnd)) + 1);
      const isBatch = key === 'batch';
      // Of two batches, the parser takes the last; an escaped key may be a second one.
      if ((isBatch && end > 0) || key.includes('\\')) throw UNUSABLE;
      if (isBatch) {
        start = this.expect(OPEN_BRACKET, at);
        at = end = this.batch(at, most);
      } else {
        at = this.value(at, 1);
      }
      at = this.space(at);
    } while (bytes[at] === COMMA);
    if (end === 0) throw UNUSABLE;
    return JSON.parse(`${bytes.toString('utf8', 0, start)}[]${bytes.toString('utf8', end)}`);
  }

  private batch(at: number, most: number): number {
    const { bytes } = this;
    at = this.space(at + 1);
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    for (;;) {
      if (this.messages.length === most) throw UNUSABLE;
      at = this.space(this.message(at));
      if (bytes[at] !== COMMA) break;
      at = this.space(at + 1);
    }
    return this.expect(CLOSE_BRACKET, at) + 1;
  }

  private message(at: number): number {
    const isObject = this.bytes[at] === OPEN_BRACE;
    SPANS.fill(0);
    this.canonical = true;
    this.escaped = false;
    this.openKeys = 0;
    const end = isObject ? this.object(at, 1) : this.value(at, 1);
    this.messages.push(
      isObject && this.canonical
        ? new ScannedMessage(this.source, end - at, SPANS, this.escaped, this.type)
        : new ParsedMessage(JSON.parse(this.bytes.toString('utf8', at, end)), {
            size: end - at,
            ...(this.type && { type: this.type }),
          }),
    );
    return end;
  }

  protected note(hash: number, key: number, keyEnd: number, start: number, end: number): void {
    const field = FIELDS.get(hash);
    if (field === undefined || !this.isNamed(field.name, key, keyEnd)) return;
    SPANS[field.place] = start;
    SPANS[field.place + 1] = end;
  }

  private isNamed(name: Uint8Array, key: number, keyEnd: number): boolean {
    const { length } = name;
    if (length !== keyEnd - key) return false;
    const { bytes } = this;
    for (let index = 0; index < length; index++) if (bytes[key + index] !== name[index]) return false;
    return true;
  }
}
