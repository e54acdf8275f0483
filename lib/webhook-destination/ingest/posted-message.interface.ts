import { MAX_BODY_DEPTH } from '../http/body.reader.js';
import { BODY_FIELDS } from '../routing/webhook-body.util.js';

/** Maximum nesting of a message, in levels: an envelope adds two. */
export const MAX_DEPTH = MAX_BODY_DEPTH - 2;

/** Fields whose JSON can be requested. */
export const TEXT_FIELDS = [...BODY_FIELDS, '_metadata'] as const;

export type TextField = (typeof TEXT_FIELDS)[number];

/** Fields in which an integer counts as its decimal text. */
export const ID_FIELDS = ['userId', 'anonymousId', 'previousId', 'groupId'] as const satisfies readonly TextField[];

/** Stands in `value` for an object that is not parsed. */
export const AN_OBJECT = Object.freeze({});

/** A message as posted, before any check. */
export interface PostedMessage {
  /** The fields, for validation. An object that is only forwarded to receivers may be replaced by an empty one. */
  readonly value: unknown;
  isTooDeep(): boolean;
  /** Whether its JSON, without white space, exceeds the limit of a message. */
  isTooLarge(): boolean;
  /**
   * Returns the JSON of a field, with its UTF-8 bytes as Latin-1; undefined if the field is absent, null or an empty
   * string.
   */
  json(field: TextField): string | undefined;
  /** Returns the value of a name in its `integrations`. */
  integration(name: string): unknown;
  /** Returns all of the message, with its type and what its batch adds. May throw if it was made in this process. */
  whole(): unknown;
}
