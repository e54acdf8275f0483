import { randomUUID } from 'node:crypto';

import type {
  ExtraContext,
  IntegrationsOptions,
  Message,
  MessageType,
} from '../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import {
  findMessageFault,
  isMessageType,
  isPlainObject,
  type MessageFault,
  parseTimestamp,
} from '../../client/message/message.rules.js';
import { isDeeperThan, MAX_DEPTH } from './message.depth.js';

type Fields = Record<string, unknown>;

/**
 * The rule that a message breaks as posted, or undefined where it breaks none.
 * @param largest no message is larger than so many bytes, as far as is known
 */
export function findIncomingFault(posted: unknown, largest: number): MessageFault | undefined {
  if (!isPlainObject(posted)) return { field: '', code: 'message_not_object', message: 'a message must be an object' };
  if (!isMessageType(posted.type)) {
    return {
      field: 'type',
      code: 'type_unknown',
      message: 'type must be one of identify, track, page, screen, group, alias',
    };
  }
  if (isDeeperThan(posted, MAX_DEPTH)) {
    return {
      field: '',
      code: 'message_too_deep',
      message: `a message must not be nested deeper than ${MAX_DEPTH} levels`,
    };
  }
  if (largest > MAX_MESSAGE_BYTES && Buffer.byteLength(JSON.stringify(posted)) > MAX_MESSAGE_BYTES) {
    return { field: '', code: 'message_too_large', message: `a message must not exceed ${MAX_MESSAGE_BYTES} bytes` };
  }
  return findMessageFault(posted.type, posted);
}

/** A posted message that breaks no rule, as the relay goes on with it. */
export function toMessage(posted: Fields, sentAt: unknown, receivedAt: number): Message {
  return {
    type: posted.type as MessageType,
    messageId: optional(posted.messageId) ?? randomUUID(),
    timestamp: toTimestamp(posted, sentAt, receivedAt).toISOString(),
    userId: optional(posted.userId),
    anonymousId: optional(posted.anonymousId),
    previousId: optional(posted.previousId),
    groupId: optional(posted.groupId),
    event: optional(posted.event),
    name: optional(posted.name),
    category: optional(posted.category),
    properties: optional(posted.properties),
    traits: optional(posted.traits),
    context: optional<ExtraContext>(posted.context),
    integrations: optional<IntegrationsOptions>(posted.integrations),
  };
}

/** The value, its type having been checked; `null` and empty strings count as absent. */
function optional<T = string>(value: unknown): T | undefined {
  return value === null || value === '' ? undefined : (value as T | undefined);
}

/** The message's own timestamp; else its original one, corrected by the sender's clock; else the time of receipt (§2.2). */
function toTimestamp({ timestamp, originalTimestamp }: Fields, sentAt: unknown, receivedAt: number): Date {
  const own = parseTimestamp(timestamp);
  if (own) return own;
  const original = parseTimestamp(originalTimestamp);
  const sent = parseTimestamp(sentAt);
  if (original && sent) return new Date(receivedAt - (sent.getTime() - original.getTime()));
  return original ?? new Date(receivedAt);
}
