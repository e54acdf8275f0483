import { BODY_FIELDS, type BodyField } from '../routing/webhook.body.js';
import { MessageScan, STRIDE, UNUSABLE } from './message.scan.js';

/** JSON as it was posted. */
export interface PostedJson {
  bytes: Buffer;
  /** The same as a string. */
  text: string;
  isAscii: boolean;
}

/**
 * The text of posted messages, for those of them whose text is to the byte what `JSON.stringify` would make of them:
 * as SDKs written in JavaScript send it. Their fields can go on as they came, and need not be stringified again.
 */
export class PostedText {
  private constructor(
    private readonly json: PostedJson,
    private readonly spans: Int32Array,
  ) {}

  /**
   * @param json valid
   * @param count how many messages its member `batch` has; undefined when all of it is one message
   * @returns undefined when no message can be used
   */
  static scan(json: PostedJson, count: number | undefined): PostedText | undefined {
    const scan = new MessageScan(json.bytes, new Int32Array((count ?? 1) * STRIDE));
    try {
      if (count === undefined) scan.message(scan.space(0), 0);
      else scan.envelope(scan.space(0), count);
    } catch (error) {
      if (error === UNUSABLE) return undefined;
      throw error;
    }
    return new PostedText(json, scan.spans);
  }

  /** Bytes of the message, or 0 when its text cannot be used. It is then nested no deeper than allowed. */
  sizeOf(message: number): number {
    const place = message * STRIDE;
    return this.spans[place + 1]! - this.spans[place]!;
  }

  /** JSON of the field of a message, or undefined when the text has none. */
  field(message: number, field: BodyField): string | undefined {
    const place = message * STRIDE + 2 + 2 * BODY_FIELDS.indexOf(field);
    const start = this.spans[place]!;
    const end = this.spans[place + 1]!;
    if (end === 0) return undefined;
    const { bytes, text, isAscii } = this.json;
    // Where all is ASCII, bytes and characters have the same places.
    return isAscii ? text.slice(start, end) : bytes.toString('utf8', start, end);
  }
}
