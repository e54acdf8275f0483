import { randomUUID } from 'node:crypto';

import type { IntegrationsOptions, MessageType } from '../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import {
  findMessageFault,
  isMessageType,
  isPlainObject,
  isWireTimestamp,
  type MessageFault,
  parseTimestamp,
} from '../../client/message/message.rules.js';
import type { RoutableMessage } from '../routing/destination.router.js';
import type { BodyField } from '../routing/webhook.body.js';
import { isDeeperThan, MAX_DEPTH } from './message.depth.js';
import type { PostedBatch } from './posted.batch.js';

type Fields = Record<string, unknown>;

/** The rule that a message of a batch breaks, or undefined where it breaks none. */
export function findIncomingFault({ messages, bytes, text }: PostedBatch, index: number): MessageFault | undefined {
  const posted = messages[index];
  if (!isPlainObject(posted)) return { field: '', code: 'message_not_object', message: 'a message must be an object' };
  if (!isMessageType(posted.type)) {
    return {
      field: 'type',
      code: 'type_unknown',
      message: 'type must be one of identify, track, page, screen, group, alias',
    };
  }
  const known = text?.sizeOf(index) ?? 0;
  if (known === 0 && isDeeperThan(posted, MAX_DEPTH)) {
    return {
      field: '',
      code: 'message_too_deep',
      message: `a message must not be nested deeper than ${MAX_DEPTH} levels`,
    };
  }
  if ((bytes ?? Infinity) > MAX_MESSAGE_BYTES) {
    const size = known === 0 ? Buffer.byteLength(JSON.stringify(posted)) : known;
    if (size > MAX_MESSAGE_BYTES) {
      return { field: '', code: 'message_too_large', message: `a message must not exceed ${MAX_MESSAGE_BYTES} bytes` };
    }
  }
  return findMessageFault(posted.type, posted);
}

/** A message of a batch that breaks no rule, as the relay goes on with it. `null` and empty strings count as absent. */
export class IncomingMessage implements RoutableMessage {
  readonly type: MessageType;
  readonly messageId: string;
  readonly userId: string | undefined;
  readonly integrations: IntegrationsOptions | undefined;
  private readonly posted: Fields;

  constructor(
    private readonly batch: PostedBatch,
    private readonly index: number,
    private readonly receivedAt: number,
  ) {
    this.posted = batch.messages[index] as Fields;
    const { type, messageId, userId, integrations } = this.posted;
    this.type = type as MessageType;
    this.messageId = (messageId as string | null | undefined) || randomUUID();
    this.userId = (userId as string | null | undefined) || undefined;
    this.integrations = (integrations as IntegrationsOptions | null | undefined) ?? undefined;
  }

  json(field: BodyField): string | undefined {
    const value = this.posted[field];
    if (field === 'timestamp' && !isWireTimestamp(value)) return JSON.stringify(this.timestamp());
    if (value === undefined || value === null || value === '') return undefined;
    return this.batch.text?.field(this.index, field) ?? JSON.stringify(value);
  }

  /** The message's own timestamp; else its original one, corrected by the sender's clock; else the time of receipt (§2.2). */
  private timestamp(): Date {
    const { timestamp, originalTimestamp } = this.posted;
    const own = parseTimestamp(timestamp);
    if (own) return own;
    const original = parseTimestamp(originalTimestamp);
    const sent = parseTimestamp(this.batch.sentAt);
    if (original && sent) return new Date(this.receivedAt - (sent.getTime() - original.getTime()));
    return original ?? new Date(this.receivedAt);
  }
}
