import { isPlainObject } from '../../client/message/message.rules.js';
import { IngestError } from './ingest.error.js';
import type { MessageRoute } from './ingest.routes.js';
import { isDeeperThan, MAX_DEPTH } from './message.depth.js';
import type { PostedBody } from './posted.body.js';
import { ParsedMessage, type PostedMessage } from './posted.message.js';

/** Most messages in one batch. */
export const MAX_MESSAGES = 2_500;

/** Most that batch-level fields may add to the messages in all, in bytes: a short body must not become a huge one. */
const MAX_SHARED_BYTES = 4 * 1024 * 1024;

/** What one request posted. */
export interface PostedBatch {
  messages: PostedMessage[];
  /** When the sender posted it, by its own clock. */
  sentAt?: unknown;
}

/** The messages of a body: on the route of a kind one of that kind, else those of an envelope. */
export function toPostedBatch(route: MessageRoute, { value, messages, size }: PostedBody): PostedBatch {
  if (!isPlainObject(value)) throw new IngestError(400, 'body_not_object', 'the body must be an object');
  const { batch, sentAt, context, integrations } = value;
  if (messages) return { messages, sentAt };
  if (route !== 'batch') return { messages: [new ParsedMessage({ ...value, type: route }, size)], sentAt };
  if (!Array.isArray(batch)) throw new IngestError(400, 'batch_not_array', 'batch must be an array', 'batch');
  if (batch.length > MAX_MESSAGES) {
    throw new IngestError(400, 'batch_too_long', `batch must not hold more than ${MAX_MESSAGES} messages`, 'batch');
  }
  const merged = shareFields(batch, { context, integrations });
  return { messages: merged.map((message) => new ParsedMessage(message, merged === batch ? size : Infinity)), sentAt };
}

/** Merges the fields of the batch into each of its messages, whose own fields are stronger. */
function shareFields(batch: unknown[], shared: Record<string, unknown>): unknown[] {
  const fields = Object.entries(shared).filter(([, value]) => value !== undefined && value !== null);
  if (fields.length === 0) return batch;
  for (const [field, value] of fields) {
    if (!isPlainObject(value)) throw new IngestError(400, `${field}_not_object`, `${field} must be an object`, field);
    if (isDeeperThan(value, MAX_DEPTH)) {
      const rule = `${field} must not be nested deeper than ${MAX_DEPTH} levels`;
      throw new IngestError(400, `${field}_too_deep`, rule, field);
    }
    if (Buffer.byteLength(JSON.stringify(value)) * batch.length > MAX_SHARED_BYTES) {
      const rule = `${field} must not add more than ${MAX_SHARED_BYTES} bytes to the messages of its batch`;
      throw new IngestError(400, `${field}_too_large`, rule, field);
    }
  }
  return batch.map((message: unknown) => {
    if (!isPlainObject(message)) return message;
    const merged = { ...message };
    for (const [field, value] of fields as [string, Record<string, unknown>][])
      merged[field] = merge(value, message[field]);
    return merged;
  });
}

function merge(shared: Record<string, unknown>, own: unknown): unknown {
  if (own === undefined || own === null) return shared;
  if (!isPlainObject(own)) return own;
  const merged = { ...shared, ...own };
  // JSON.parse keeps such a key as the object's own.
  delete merged['__proto__'];
  return merged;
}
