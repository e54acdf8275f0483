import type { SerializedMessage } from '../../client/message/serialized-message.js';
import { isDeeperThan } from '../http/body.reader.js';
import { memberOf, ParsedMessage, toLatin1 } from './parsed-message.js';
import { AN_OBJECT, MAX_DEPTH, type PostedMessage, type TextField } from './posted-message.interface.js';

/** Returns a message of a client in this process. One that a plugin may have changed is parsed. */
export function toPosted(message: SerializedMessage): PostedMessage {
  const fields = message.fields();
  if (fields) return new RecordedMessage(message, fields);
  return new ParsedMessage(JSON.parse(message.json), { size: message.bytes });
}

/** A message as it was recorded in this process: its fields are neither parsed nor serialized again. */
class RecordedMessage implements PostedMessage {
  readonly value: Record<string, unknown> = {};

  constructor(
    private readonly message: SerializedMessage,
    private readonly fields: Map<string, string>,
  ) {
    for (const [name, json] of fields) {
      const isParsed = !json.startsWith('{') || (name === 'integrations' && json !== '{}');
      this.value[name] = isParsed ? JSON.parse(json) : AN_OBJECT;
    }
  }

  isTooDeep(): boolean {
    const { json } = this.message;
    const levels = json.match(/[[{]/g)!.length; // at most
    return levels > MAX_DEPTH && isDeeperThan(JSON.parse(json), MAX_DEPTH);
  }

  isTooLarge(): boolean {
    return false; // the client refuses it
  }

  json(field: TextField): string | undefined {
    const json = this.fields.get(field);
    if (json === undefined || json === 'null' || json === '""') return undefined;
    const { bytes, json: whole } = this.message;
    return bytes === whole.length ? json : toLatin1(json);
  }

  integration(name: string): unknown {
    return memberOf(this.value.integrations, name);
  }

  whole(): unknown {
    return JSON.parse(this.message.json);
  }
}
