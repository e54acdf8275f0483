import { RelayError } from '../relay.error.js';
import { MAX_MESSAGE_BYTES } from './message.limits.js';

/** A message as JSON. */
export class SerializedMessage {
  /** Size in UTF-8 bytes. */
  readonly bytes: number;

  /** @param ends the name of each field and the position where it ends; undefined if the fields are not known */
  constructor(
    readonly json: string,
    private readonly ends?: readonly (string | number)[],
  ) {
    this.bytes = Buffer.byteLength(json);
  }

  /** Why the message cannot be sent; undefined if it can. */
  get fault(): Error | undefined {
    if (this.bytes <= MAX_MESSAGE_BYTES) return undefined;
    const message = `The message has ${this.bytes} bytes; at most ${MAX_MESSAGE_BYTES} (32 KB) are allowed`;
    return new RelayError('message_too_large', message);
  }

  /** Returns the JSON of each field; undefined if the fields are not known, as after a plugin. */
  fields(): Map<string, string> | undefined {
    const { json, ends } = this;
    if (!ends) return undefined;
    const fields = new Map<string, string>();
    let start = '{'.length;
    for (let index = 0; index < ends.length; index += 2) {
      const name = ends[index] as string;
      const end = ends[index + 1] as number;
      fields.set(name, json.slice(start + name.length + '"":'.length, end));
      start = end + ','.length;
    }
    return fields;
  }
}
