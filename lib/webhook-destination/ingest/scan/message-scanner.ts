import type { MessageType } from '../../../client/message/message.interface.js';
import type { JsonText } from '../../http/body.reader.js';
import { ParsedMessage } from '../parsed-message.js';
import { ID_FIELDS, type PostedMessage } from '../posted-message.interface.js';
import {
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isNumberStart,
  JsonScanner,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  UNUSABLE,
} from './json-scanner.js';
import { SCANNED_FIELDS, ScannedMessage } from './scanned-message.js';

const ID_NAMES = new Set<string>(ID_FIELDS);

/** Name and span position of each field, by the hash of its name. */
const FIELDS = new Map(
  SCANNED_FIELDS.map((field, index) => {
    const name = Buffer.from(field);
    const hash = name.reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 0);
    return [hash, { name, place: 2 * index, isId: ID_NAMES.has(field) }];
  }),
);

/** Spans of the fields of the current message. All scans share it, because a scan is never interrupted. */
const SPANS = new Int32Array(2 * SCANNED_FIELDS.length);

/**
 * Finds the messages of posted JSON without parsing them. A text that is not JSON is never accepted, and a message that
 * is not exactly what `JSON.stringify` would write is parsed.
 */
export class MessageScanner extends JsonScanner {
  readonly messages: PostedMessage[] = [];

  /** @param type overrides the message's own type */
  constructor(
    private readonly source: JsonText,
    private readonly type?: MessageType,
  ) {
    super(source.bytes);
  }

  /**
   * Reads the text as one message.
   *
   * @returns its fields
   * @throws UNUSABLE if the text must be parsed instead
   */
  single(): unknown {
    const start = this.expect(OPEN_BRACE, this.space(0));
    if (this.space(this.message(start)) !== this.bytes.length) throw UNUSABLE;
    return this.messages[0]!.value;
  }

  /**
   * Reads the text as an envelope of at most `most` messages. The rest of the envelope is short, and is parsed, which
   * also checks its syntax.
   *
   * @returns the envelope, with an empty batch
   * @throws UNUSABLE if the text must be parsed instead
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
      // The parser uses the last of two batches, and an escaped key may be a second one.
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
        ? new ScannedMessage(this.source, at, end - at, SPANS, this.escaped, this.type)
        : new ParsedMessage(JSON.parse(this.bytes.toString('utf8', at, end)), {
            size: end - at,
            type: this.type,
          }),
    );
    return end;
  }

  protected recordMember(hash: number, key: number, keyEnd: number, start: number, end: number): void {
    const field = FIELDS.get(hash);
    if (field === undefined || !this.isNamed(field.name, key, keyEnd)) return;
    SPANS[field.place] = start;
    SPANS[field.place + 1] = end;
    // A number in an id is replaced by its text, which only the parser does.
    if (field.isId && isNumberStart(this.bytes[start]!)) this.canonical = false;
  }

  private isNamed(name: Uint8Array, key: number, keyEnd: number): boolean {
    const { length } = name;
    if (length !== keyEnd - key) return false;
    const { bytes } = this;
    for (let index = 0; index < length; index++) if (bytes[key + index] !== name[index]) return false;
    return true;
  }
}
