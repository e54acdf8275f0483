import { BODY_FIELDS } from '../routing/webhook-body.util.js';

/** Fields whose JSON is asked for. */
export const TEXT_FIELDS = [...BODY_FIELDS, '_metadata'] as const;

export type TextField = (typeof TEXT_FIELDS)[number];

/** A message as a sender posted it; nothing of it is checked yet. */
export interface PostedMessage {
  /** The fields, for the rules. An object that is only passed on to receivers may be stood in for by an empty one. */
  readonly value: unknown;
  isTooDeep(): boolean;
  /** Whether its JSON, without white space, exceeds the limit of a message. */
  isTooLarge(): boolean;
  /** JSON of a field, its UTF-8 bytes as Latin-1; undefined where the field is absent, null or an empty string. */
  json(field: TextField): string | undefined;
  /** The value that its `integrations` have for a name. */
  integration(name: string): unknown;
}
