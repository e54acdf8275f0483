import type { Message } from '../../client/message/message.interface.js';

/** Version of the body's layout (§9). */
const VERSION = 1;

/**
 * The JSON that a webhook carries (§2.1), with the message's `context`, `anonymousId`, `name` and `category` where it
 * has them, and nothing of the transport: no write key, messageId or `integrations`.
 */
export function toWebhookBody(message: Message): string {
  const { type, userId, anonymousId, timestamp, context } = message;
  const identity = type === 'alias' ? undefined : { userId };
  return JSON.stringify({ version: VERSION, type, ...identity, anonymousId, ...fieldsOf(message), context, timestamp });
}

/** The JSON of a delete notification: these three fields alone, and no version (§2.1). */
export function toDeleteBody(userId: string, timestamp: Date): string {
  return JSON.stringify({ type: 'delete', userId, timestamp: timestamp.toISOString() });
}

function fieldsOf(message: Message): Record<string, unknown> {
  const { name, category, properties, traits } = message;
  switch (message.type) {
    case 'identify':
      return { traits };
    case 'track':
      return { event: message.event, properties };
    case 'page':
    case 'screen':
      return { name, category, properties };
    case 'group':
      return { groupId: message.groupId, traits };
    case 'alias':
      return { 'Previous ID': message.previousId, 'User ID': message.userId };
  }
}
