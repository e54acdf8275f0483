import { MAX_MESSAGE_ID_LENGTH } from '../../client/message/message.limits.js';
import type { MessageType } from '../../client/message/message.interface.js';
import type { ControllerRoute, Schema } from '../http/route.controller.js';
import { MAX_MESSAGES } from './batch.parser.js';

/** A route for messages: a batch of them, or one message of a type. */
export type MessageRoute = 'batch' | MessageType;

/** A route of the endpoint: for messages, or for an SDK's metrics about itself. */
export type IngestRoute = MessageRoute | 'metrics';

const PATHS: Record<IngestRoute, string[]> = {
  batch: ['batch', 'import', 'b'],
  metrics: ['m'],
  identify: ['identify', 'i'],
  track: ['track', 't'],
  page: ['page', 'p'],
  screen: ['screen', 's'],
  group: ['group', 'g'],
  alias: ['alias', 'a'],
};

const text: Schema = { type: 'string' };
const object: Schema = { type: 'object', additionalProperties: true };

const COMMON: Record<string, Schema> = {
  userId: text,
  anonymousId: text,
  messageId: { ...text, maxLength: MAX_MESSAGE_ID_LENGTH - 1 },
  timestamp: { ...text, format: 'date-time' },
  context: object,
  integrations: object,
};

const FIELDS: Record<IngestRoute, Pick<Schema, 'required' | 'properties'>> = {
  batch: {
    required: ['batch'],
    properties: {
      batch: { type: 'array', maxItems: MAX_MESSAGES, items: object, description: 'messages, each with its type' },
      sentAt: { ...text, format: 'date-time' },
      context: object,
      integrations: object,
    },
  },
  metrics: { properties: { series: { type: 'array', items: object } } },
  identify: { properties: { ...COMMON, traits: object } },
  track: { required: ['event'], properties: { ...COMMON, event: text, properties: object } },
  page: { properties: { ...COMMON, name: text, category: text, properties: object } },
  screen: { properties: { ...COMMON, name: text, category: text, properties: object } },
  group: { required: ['groupId'], properties: { ...COMMON, groupId: text, traits: object } },
  alias: { required: ['userId', 'previousId'], properties: { ...COMMON, previousId: text } },
};

const ANSWERS: Record<number, string> = {
  200: 'Accepted: messages not listed in `rejected` or `moreRejected` are stored durably',
  400: 'Malformed, or a message breaks a rule',
  401: 'No source has this write key, or the request has none',
  413: 'The body is too large',
  429: 'Too many requests from the source, or too many wrong write keys from the address',
  503: 'The queue is not accepting messages, or the body arrived too slowly',
};

/** Returns the routes of the endpoint below its prefix, each with its kind, and with what describes it. */
export function ingestRoutes(
  prefix: string,
  handle: (kind: IngestRoute, ...exchange: Parameters<ControllerRoute['handle']>) => Promise<void>,
): (ControllerRoute & { kind: IngestRoute })[] {
  return (Object.entries(PATHS) as [IngestRoute, string[]][]).flatMap(([kind, paths]) =>
    paths.map((path) => ({
      kind,
      method: 'POST',
      path: `/${prefix}/${path}`,
      handle: (...exchange) => handle(kind, ...exchange),
      summary: kind === 'batch' ? 'Accept a batch of messages' : `Accept ${kind}`,
      operationId: `analytics_${path}`,
      authorization: 'Basic',
      schema: { type: 'object', ...FIELDS[kind] },
      answers: ANSWERS,
    })),
  );
}
