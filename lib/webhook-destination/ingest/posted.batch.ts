import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { IngestError } from './ingest.error.js';
import type { MessageRoute } from './ingest.routes.js';
import { isDeeperThan, MAX_DEPTH } from './message.depth.js';
import { MergedMessage, SHARED_FIELDS, type SharedFields } from './merged.message.js';
import type { PostedBody } from './posted.body.js';
import { ParsedMessage, type PostedMessage } from './posted.message.js';
import { SharedField } from './shared.field.js';

/** Most messages in one batch. */
export const MAX_MESSAGES = 2_500;

/** Most bytes that the messages of one batch get of its context, each its own: a body must not become much more in the queue. */
const MAX_LENT_BYTES = 16 * 1024 * 1024;

/** What one request posted. */
export interface PostedBatch {
  messages: PostedMessage[];
  /** When the sender posted it, by its own clock. */
  sentAt?: unknown;
}

/** The messages of a body: on the route of a kind one of that kind, else those of an envelope. */
export function toPostedBatch(route: MessageRoute, { value, messages, size }: PostedBody): PostedBatch {
  if (!isPlainObject(value)) throw new IngestError(400, 'body_not_object', 'the body must be an object', 'body');
  const { batch, sentAt } = value;
  if (messages) return { messages, sentAt };
  if (route !== 'batch') return { messages: [new ParsedMessage(value, size, route)], sentAt };
  if (!Array.isArray(batch)) throw new IngestError(400, 'batch_not_array', 'batch must be an array', 'batch');
  if (batch.length > MAX_MESSAGES) {
    throw new IngestError(400, 'batch_too_long', `batch must not hold more than ${MAX_MESSAGES} messages`, 'batch');
  }
  const shared = sharedFields(value, batch.length);
  if (!shared) return { messages: batch.map((message) => new ParsedMessage(message, size)), sentAt };
  return {
    messages: batch.map((message: unknown) =>
      isPlainObject(message) ? new MergedMessage(message, shared) : new ParsedMessage(message, size),
    ),
    sentAt,
  };
}

/** The fields that the envelope lends to so many messages, if any. */
function sharedFields(envelope: Record<string, unknown>, messages: number): SharedFields | undefined {
  let shared: SharedFields | undefined;
  for (const field of SHARED_FIELDS) {
    const value = envelope[field];
    if (value === undefined || value === null) continue;
    if (!isPlainObject(value)) throw new IngestError(400, `${field}_not_object`, `${field} must be an object`, field);
    if (isDeeperThan(value, MAX_DEPTH - 1)) {
      const rule = `${field} must not be nested deeper than ${MAX_DEPTH - 1} levels, one less than a message`;
      throw new IngestError(400, `${field}_too_deep`, rule, field);
    }
    const lent = new SharedField(value);
    if (lent.size > MAX_MESSAGE_BYTES) {
      const rule = `${field} must not exceed the ${MAX_MESSAGE_BYTES} bytes of a message`;
      throw new IngestError(400, `${field}_too_large`, rule, field);
    }
    if (field === 'context' && lent.size * messages > MAX_LENT_BYTES) {
      const rule = `context must not exceed ${MAX_LENT_BYTES} bytes in all messages that it is merged into`;
      throw new IngestError(400, 'context_too_large', rule, field);
    }
    shared = { ...shared, [field]: lent };
  }
  return shared;
}
