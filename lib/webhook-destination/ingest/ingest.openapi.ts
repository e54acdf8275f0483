import type { Type } from '@nestjs/common';

import { INGEST_PATHS, type IngestRoute } from './ingest.routes.js';

/** As much of an OpenAPI schema as is used here. */
interface Schema {
  type?: 'string' | 'array' | 'object';
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  format?: string;
  maxLength?: number;
  maxItems?: number;
  additionalProperties?: boolean;
  description?: string;
}

const text: Schema = { type: 'string' };
const object: Schema = { type: 'object', additionalProperties: true };

const COMMON: Record<string, Schema> = {
  userId: text,
  anonymousId: text,
  messageId: { ...text, maxLength: 99 },
  timestamp: { ...text, format: 'date-time' },
  context: object,
  integrations: object,
};

const FIELDS: Record<IngestRoute, Pick<Schema, 'required' | 'properties'>> = {
  batch: {
    required: ['batch'],
    properties: {
      batch: { type: 'array', maxItems: 2_500, items: object, description: 'messages, each with its type' },
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
  200: 'Accepted: what is not named in `rejected` is in the queue, durably',
  400: 'Malformed, or a message breaks a rule',
  401: 'No source has this write key',
  408: 'The body did not come in time',
  413: 'The body is too large',
  429: 'The source makes too many requests',
  503: 'The queue takes no messages now',
};

/** Describes the controller's routes where the application has `@nestjs/swagger`, or hides them from it. */
export async function documentIngest(controller: Type, visible: boolean): Promise<void> {
  const swagger = await import('@nestjs/swagger').catch(() => undefined);
  if (!swagger) return;
  const { ApiBasicAuth, ApiBody, ApiExcludeController, ApiOperation, ApiResponse, ApiTags } = swagger;
  if (!visible) {
    ApiExcludeController()(controller);
    return;
  }
  ApiTags('analytics')(controller);
  for (const route of Object.keys(INGEST_PATHS) as IngestRoute[]) {
    const prototype = controller.prototype as object;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, route)!;
    const summary = route === 'batch' ? 'Take a batch of messages' : `Take ${route}`;
    const decorators = [
      ApiOperation({ summary, operationId: `analytics_${route}` }),
      ApiBasicAuth(),
      ApiBody({ schema: { type: 'object', ...FIELDS[route] } }),
      ...Object.entries(ANSWERS).map(([status, description]) => ApiResponse({ status: Number(status), description })),
    ];
    for (const decorate of decorators) decorate(prototype, route, descriptor);
  }
}
