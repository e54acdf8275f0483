import type { MessageType } from '../../client/message/message.interface.js';

/** Fields of a message that a webhook can carry. */
export const BODY_FIELDS = [
  'userId',
  'anonymousId',
  'previousId',
  'groupId',
  'event',
  'name',
  'category',
  'properties',
  'traits',
  'context',
  'timestamp',
] as const;

export type BodyField = (typeof BODY_FIELDS)[number];

/** A message as JSON, field by field. */
export interface MessageJson {
  readonly type: MessageType;
  /** Returns the JSON of a field, with its UTF-8 bytes as Latin-1; undefined if the message does not have the field. */
  json(field: BodyField): string | undefined;
}

/** Version of the body's layout. */
const VERSION = 1;

/** The body fields of each message type, with their names in the body where those differ. */
const LAYOUTS: Record<MessageType, (BodyField | [BodyField, string])[]> = {
  identify: ['userId', 'anonymousId', 'traits', 'context', 'timestamp'],
  track: ['userId', 'anonymousId', 'event', 'properties', 'context', 'timestamp'],
  page: ['userId', 'anonymousId', 'name', 'category', 'properties', 'context', 'timestamp'],
  screen: ['userId', 'anonymousId', 'name', 'category', 'properties', 'context', 'timestamp'],
  group: ['userId', 'anonymousId', 'groupId', 'traits', 'context', 'timestamp'],
  alias: ['anonymousId', ['previousId', 'Previous ID'], ['userId', 'User ID'], 'context', 'timestamp'],
};

interface Template {
  /** The start of the body. */
  head: string;
  /** Fields of the body, each with the text that precedes its value. */
  fields: [field: BodyField, before: string][];
}

const TEMPLATES = Object.fromEntries(
  Object.entries(LAYOUTS).map(([type, layout]) => {
    const fields = layout.map((entry): [BodyField, string] => {
      const [field, name] = typeof entry === 'string' ? [entry, entry] : entry;
      return [field, `,${JSON.stringify(name)}:`];
    });
    return [type, { head: `{"version":${VERSION},"type":"${type}"`, fields }];
  }),
) as Record<MessageType, Template>;

/**
 * Creates the JSON body of a webhook. It has `context`, `anonymousId`, `name` and `category` if the message has them,
 * and no transport fields: no write key, messageId or `integrations`.
 *
 * @see docs/specification.md, "Webhook bodies"
 */
export function toWebhookBody(message: MessageJson): Buffer {
  const { head, fields } = TEMPLATES[message.type];
  let text = head;
  for (const [field, before] of fields) {
    const value = message.json(field);
    if (value !== undefined) text += before + value;
  }
  return Buffer.from(`${text}}`, 'latin1');
}

/** Creates the JSON of a delete notification: only these three fields, and no version. */
export function toDeleteBody(userId: string, timestamp: Date): Buffer {
  return Buffer.from(JSON.stringify({ type: 'delete', userId, timestamp: timestamp.toISOString() }));
}
