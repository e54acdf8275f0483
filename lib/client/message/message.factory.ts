import { randomUUID } from 'node:crypto';
import type { TraceFields } from '../telemetry/trace-context.js';
import { VERSION } from '../version.js';
import type { EventDefaults, ExtraContext, IntegrationsOptions, Message, MessageType } from './message.interface.js';
import { serialize, takeObject, unreadable } from './message-json.util.js';
import { findMessageFault, isPlainObject } from './message.rules.js';
import type { SerializedMessage } from './serialized-message.js';
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
 * @throws {ValidationError} when a rule is broken, or a field cannot be read.
 */
export function createMessage(type: MessageType, params: unknown, recordedBy?: string): Message {
  if (!isPlainObject(params)) {
    throw new ValidationError({ field: 'message', code: 'message_not_object', message: 'message must be an object' });
  }
  try {
    return toMessage(type, params, recordedBy);
  } catch (error) {
    throw unreadable(params, error);
  }
}

function toMessage(type: MessageType, params: Params, recordedBy: string | undefined): Message {
  const given = takeObject('message', params);
  const fault = findMessageFault(type, given);
  if (fault) throw new ValidationError(fault);
  const moment = (given.timestamp as Date | string | null | undefined) || new Date();
  const message: Message = {
    type,
    messageId: text(given.messageId) ?? randomUUID(),
    timestamp: typeof moment === 'string' ? moment : moment.toISOString(),
    userId: text(given.userId),
    anonymousId: text(given.anonymousId),
    context: object(given.context),
    integrations: object(given.integrations) as IntegrationsOptions,
    _metadata: recordedBy === undefined ? METADATA : { ...METADATA, recordedBy },
  };
  fill[type](message, given);
  return message;
}

/** What is added to a message. Of fields with the same name, the message's own take precedence, then `context`. */
export interface Additions {
  defaults?: EventDefaults | undefined;
  trace?: TraceFields | undefined;
  /** Facts of the current request. */
  facts?: ExtraContext | undefined;
  context?: ExtraContext | undefined;
  /** Whether the JSON of each field is to be known. */
  isByField?: boolean | undefined;
}

/**
 * Serializes a message, after adding to its context and properties. Also adds the category to a page's
 * properties, where existing receivers look for it. Copies the application's objects instead of changing them, as JSON
 * takes them, because a copy has no `toJSON` to hide fields.
 *
 * @throws {ValidationError} that names the field which cannot be read.
 */
export function completeMessage(
  message: Message,
  { defaults, trace, facts, context, isByField }: Additions,
): SerializedMessage {
  try {
    const own = takeObject('context', message.context);
    message.context = { ...trace, ...defaults?.context, ...facts, ...context, ...own, library: LIBRARY };
    message.integrations = takeObject('integrations', message.integrations) as IntegrationsOptions;
    if (message.traits) message.traits = takeObject('traits', message.traits);
    if (message.properties) {
      const properties = takeObject('properties', message.properties);
      const category = message.type === 'page' && message.category ? { category: message.category } : undefined;
      const hasMore = defaults?.properties ?? category;
      message.properties = hasMore ? { ...defaults?.properties, ...properties, ...category } : properties;
    }
    const serialized = serialize(message, isByField);
    return facts && serialized.fault ? serialize(withoutFacts(message, facts), isByField) : serialized;
  } catch (error) {
    throw unreadable(message, error);
  }
}

/** An event is refused only for what its caller gave. */
function withoutFacts(message: Message, facts: ExtraContext): Message {
  const context = Object.entries(message.context!).filter(([name, value]) => value !== facts[name]);
  return { ...message, context: Object.fromEntries(context) };
}
