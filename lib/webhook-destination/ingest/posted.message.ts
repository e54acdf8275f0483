import type { MessageType } from '../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { BODY_FIELDS } from '../routing/webhook.body.js';
import { isDeeperThan, MAX_DEPTH } from './message.depth.js';

/** How much longer JSON gets at most where it is written anew: `1e20` becomes 21 digits. */
const MOST_GROWTH = 21 / 4;

/** A message as it was posted: nothing of it is checked yet. */
export interface PostedMessage {
  /** For the rules to look at. Of an object that only goes on to the receiver, it tells no more than that it is one. */
  readonly value: unknown;
  isTooDeep(): boolean;
  /** Whether the JSON of what was posted, with no white space in it, is too large. */
  isTooLarge(): boolean;
  /** Whether its JSON is known to be ASCII. */
  readonly isAscii: boolean;
  /** JSON of the field at that place in `BODY_FIELDS`; undefined where it is absent, null or an empty string. */
  json(place: number): string | undefined;
  /** The value that its `integrations` have for a name. */
  integration(name: string): unknown;
}

/** JSON of a field, or undefined where its value is as good as absent. */
export function toFieldJson(value: unknown): string | undefined {
  return value === null || value === '' ? undefined : JSON.stringify(value);
}

/** An object's own value for a name; undefined of what is no object. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** A message that a parser has read, or that was made in this process. */
export class ParsedMessage implements PostedMessage {
  readonly isAscii = false;
  readonly value: unknown;

  /**
   * @param size bytes that it had at most when it was posted
   * @param type where that is not the message's own
   */
  constructor(
    private readonly posted: unknown,
    private readonly size = Infinity,
    type?: MessageType,
  ) {
    this.value = type && isPlainObject(posted) ? { ...posted, type } : posted;
  }

  isTooDeep(): boolean {
    return isDeeperThan(this.posted, MAX_DEPTH);
  }

  isTooLarge(): boolean {
    if (this.size * MOST_GROWTH <= MAX_MESSAGE_BYTES) return false;
    return Buffer.byteLength(JSON.stringify(this.posted)) > MAX_MESSAGE_BYTES;
  }

  json(place: number): string | undefined {
    return toFieldJson((this.posted as Record<string, unknown>)[BODY_FIELDS[place]!]);
  }

  integration(name: string): unknown {
    return memberOf((this.posted as Record<string, unknown>).integrations, name);
  }
}
