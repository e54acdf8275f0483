import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { BODY_FIELDS } from '../routing/webhook.body.js';
import { isDeeperThan, MAX_DEPTH } from './message.depth.js';

/** A message as it was posted: nothing of it is checked yet. */
export interface PostedMessage {
  /** For the rules to look at. Of an object that only goes on to the receiver, it tells no more than that it is one. */
  readonly value: unknown;
  isTooDeep(): boolean;
  isTooLarge(): boolean;
  /** Whether its JSON is known to be ASCII. */
  readonly isAscii: boolean;
  /** JSON of the field at that place in `BODY_FIELDS`; undefined where it is absent, null or an empty string. */
  json(place: number): string | undefined;
}

/** JSON of a field, or undefined where its value is as good as absent. */
export function toFieldJson(value: unknown): string | undefined {
  return value === null || value === '' ? undefined : JSON.stringify(value);
}

/** A message that a parser has read, or that was made in this process. */
export class ParsedMessage implements PostedMessage {
  readonly isAscii = false;

  /** @param most bytes that its JSON has at most */
  constructor(
    readonly value: unknown,
    private readonly most = Infinity,
  ) {}

  isTooDeep(): boolean {
    return isDeeperThan(this.value, MAX_DEPTH);
  }

  isTooLarge(): boolean {
    return this.most > MAX_MESSAGE_BYTES && Buffer.byteLength(JSON.stringify(this.value)) > MAX_MESSAGE_BYTES;
  }

  json(place: number): string | undefined {
    return toFieldJson((this.value as Record<string, unknown>)[BODY_FIELDS[place]!]);
  }
}
