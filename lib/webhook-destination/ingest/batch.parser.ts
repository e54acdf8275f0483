import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { isDeeperThan } from '../http/body.reader.js';
import { RequestError } from '../http/request.error.js';
import { ParsedMessage, type SharedIntegrations } from './parsed-message.js';
import { MAX_DEPTH, type PostedMessage } from './posted-message.interface.js';

/** Maximum number of messages in one batch. */
export const MAX_MESSAGES = 2_500;

/** Maximum total size of a batch's `context` in all its messages, in bytes: a body must not grow much in the queue. */
const MAX_SHARED_BYTES = 16 * 1024 * 1024;

/**
 * Returns the messages of an envelope, with its `context` and `integrations` merged into each. A message's own members
 * take precedence.
 *
 * @param size size of the posted envelope, in bytes
 * @throws {RequestError} 400 if the envelope breaks a rule.
 */
export function parseBatch(envelope: Record<string, unknown>, size: number): PostedMessage[] {
  const { batch } = envelope;
  if (!Array.isArray(batch)) throw new RequestError('batch_not_array', 'batch must be an array', 'batch');
  if (batch.length > MAX_MESSAGES)
    throw new RequestError('batch_too_long', `batch must not contain more than ${MAX_MESSAGES} messages`, 'batch');
  const shared = sharedField(envelope, 'context');
  const context = shared && new SharedContext(shared.value);
  if (context && context.bytes * batch.length > MAX_SHARED_BYTES) {
    const rule = `context, multiplied by the number of messages, must not exceed ${MAX_SHARED_BYTES} bytes`;
    throw new RequestError('context_too_large', rule, 'context');
  }
  const integrations = sharedField(envelope, 'integrations');
  if (!context && !integrations) return batch.map((message) => new ParsedMessage(message, { size }));
  return batch.map((message: unknown) => {
    const merged = isPlainObject(message) ? context?.mergeInto(message.context) : undefined;
    return new ParsedMessage(message, { context: merged, integrations });
  });
}

/** Returns a field that an envelope sets for all its messages; undefined if absent. */
function sharedField(
  envelope: Record<string, unknown>,
  field: 'context' | 'integrations',
): SharedIntegrations | undefined {
  const value = envelope[field] ?? undefined;
  if (value === undefined) return undefined;
  if (!isPlainObject(value)) throw new RequestError(`${field}_not_object`, `${field} must be an object`, field);
  if (isDeeperThan(value, MAX_DEPTH - 1)) {
    const rule = `${field} must not be nested deeper than ${MAX_DEPTH - 1} levels, one less than a message`;
    throw new RequestError(`${field}_too_deep`, rule, field);
  }
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= MAX_MESSAGE_BYTES) return { value, bytes };
  const rule = `${field} must not exceed ${MAX_MESSAGE_BYTES} bytes, the limit of a message`;
  throw new RequestError(`${field}_too_large`, rule, field);
}

/** The `context` of a batch, which is merged into each message; a message's own members take precedence. */
class SharedContext {
  private readonly members: [name: string, json: string][];
  private readonly json: string;
  /** Size of its JSON, in bytes. */
  readonly bytes: number;

  constructor(value: Record<string, unknown>) {
    this.members = membersOf(value);
    this.json = toJson(this.members);
    this.bytes = Buffer.byteLength(this.json);
  }

  /** Returns the merged context of a message as JSON; undefined if its own context is not an object. */
  mergeInto(own: unknown): string | undefined {
    if (own === undefined || own === null) return this.json;
    if (!isPlainObject(own)) return undefined;
    const others = this.members.filter(([name]) => !Object.hasOwn(own, name));
    return toJson([...membersOf(own), ...others]);
  }
}

/** Returns the members as JSON, without `__proto__`, which JSON.parse makes an ordinary member. */
function membersOf(value: Record<string, unknown>): [string, string][] {
  return Object.entries(value).flatMap(([name, member]) =>
    name === '__proto__' ? [] : [[name, `${JSON.stringify(name)}:${JSON.stringify(member)}`]],
  );
}

function toJson(members: [name: string, json: string][]): string {
  return `{${members.map(([, json]) => json).join(',')}}`;
}
