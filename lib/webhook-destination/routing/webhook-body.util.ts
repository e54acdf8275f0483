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
  /** JSON of a field, its UTF-8 bytes as Latin-1, or undefined where the message has none. */
  json(field: BodyField): string | undefined;
}

/** Version of the body's layout. */
const VERSION = 1;

/** The fields of each kind's body, and their names in it where those differ. */
const LAYOUTS: Record<MessageType, (BodyField | [BodyField, string])[]> = {
  identify: ['userId', 'anonymousId', 'traits', 'context', 'timestamp'],
  track: ['userId', 'anonymousId', 'event', 'properties', 'context', 'timestamp'],
  page: ['userId', 'anonymousId', 'name', 'category', 'properties', 'context', 'timestamp'],
  screen: ['userId', 'anonymousId', 'name', 'category', 'properties', 'context', 'timestamp'],
  group: ['userId', 'anonymousId', 'groupId', 'traits', 'context', 'timestamp'],
  alias: ['anonymousId', ['previousId', 'Previous ID'], ['userId', 'User ID'], 'context', 'timestamp'],
};

interface Template {
  /** What a body begins with. */
  head: string;
  /** Its fields, each with the text that comes before it. */
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
 * The JSON that webhooks carry, with the message's `context`, `anonymousId`, `name` and `category` where it
 * has them, and nothing of the transport: no write key, messageId or `integrations`. All share one piece of memory.
 *
 * @see docs/specification.md, "Webhook bodies"
 */
export function toWebhookBodies(messages: MessageJson[]): Buffer[] {
  const texts = messages.map(toText);
  const bytes = Buffer.from(texts.join(''), 'latin1');
  let end = 0;
  return texts.map((text) => bytes.subarray(end, (end += text.length)));
}

function toText(message: MessageJson): string {
  const { head, fields } = TEMPLATES[message.type];
  let text = head;
  for (const [field, before] of fields) {
    const value = message.json(field);
    if (value !== undefined) text += before + value;
  }
  return `${text}}`;
}

/** The JSON of a delete notification: these three fields alone, and no version. */
export function toDeleteBody(userId: string, timestamp: Date): Buffer {
  return Buffer.from(JSON.stringify({ type: 'delete', userId, timestamp: timestamp.toISOString() }));
}
