import { randomUUID } from 'node:crypto';
import type { TraceFields } from '../telemetry/trace-context.js';
import { VERSION } from '../version.js';
import type { ExtraContext, IntegrationsOptions, Message, MessageType } from './message.interface.js';
import { findMessageFault, isPlainObject } from './message.rules.js';
import { ValidationError } from './validation.error.js';

/** Identifies this library in `context.library`. */
const LIBRARY = { name: 'nestjs-analytics-relay', version: VERSION };
const METADATA = { nodeVersion: process.version };

type Params = Record<string, unknown>;

// An empty string counts as missing, and JSON leaves out undefined fields.
const text = (value: unknown): string | undefined => (value as string | null | undefined) || undefined;
const object = (value: unknown): Record<string, unknown> => (value as Record<string, unknown> | null | undefined) ?? {};

/** Adds the fields of each message type to the common ones. */
const fill: Record<MessageType, (message: Message, params: Params) => void> = {
  identify(message, params) {
    message.traits = object(params.traits);
  },
  track(message, params) {
    message.event = params.event as string;
    message.properties = object(params.properties);
  },
  page(message, params) {
    fill.screen(message, params);
  },
  screen(message, params) {
    message.name = text(params.name);
    message.category = text(params.category);
    message.properties = object(params.properties);
  },
  group(message, params) {
    message.groupId = params.groupId as string;
    message.traits = object(params.traits);
  },
  alias(message, params) {
    message.previousId = params.previousId as string;
  },
};

/**
 * Creates the message to send; {@link completeMessage} adds to its context. It references the application's own objects
 * and never changes them: serialise it before the application changes them.
 *
 * @param recordedBy the method or route that records it, for a relay in the same process
 * @throws {ValidationError} when a rule is broken.
 */
export function createMessage(type: MessageType, params: unknown, recordedBy?: string): Message {
  if (!isPlainObject(params)) {
    throw new ValidationError({ field: 'message', code: 'message_not_object', message: 'message must be an object' });
  }
  const fault = findMessageFault(type, params);
  if (fault) throw new ValidationError(fault);
  const moment = (params as { timestamp?: Date | string | null }).timestamp || new Date();
  const message: Message = {
    type,
    messageId: text(params.messageId) ?? randomUUID(),
    timestamp: typeof moment === 'string' ? moment : moment.toISOString(),
    userId: text(params.userId),
    anonymousId: text(params.anonymousId),
    context: object(params.context),
    integrations: object(params.integrations) as IntegrationsOptions,
    _metadata: recordedBy === undefined ? METADATA : { ...METADATA, recordedBy },
  };
  fill[type](message, params);
  return message;
}

/**
 * Adds the trace and the given context to the message's context, whose own fields take precedence, and the category to a
 * page's properties, where existing receivers look for it. Copies the application's objects instead of changing them.
 *
 * @throws what an accessor of these objects throws.
 */
export function completeMessage(message: Message, trace?: TraceFields, context?: ExtraContext): void {
  message.context = { ...trace, ...context, ...message.context, library: LIBRARY };
  const { type, category } = message;
  if (type === 'page' && category) message.properties = { ...message.properties, category };
}
