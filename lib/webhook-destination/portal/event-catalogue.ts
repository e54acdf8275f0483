import { isPlainObject } from '../../client/message/message.rules.js';
import { type EventClass, isEventClass } from '../../common/event-class/event-definition.js';
import { toEventSchema } from '../../common/event-class/event-schema.util.js';
import type { JsonSchema } from '../../common/event-class/json-schema.interface.js';
import { foundOnce } from '../../common/found-once.util.js';
import { AcceptedMessage } from '../ingest/accepted-message.js';
import { toWebhookBody } from '../routing/webhook-body.util.js';
import { toAsyncApi } from './async-api.document.js';
import { type PortalEvent, toExampleMessage } from './catalogue.options.js';
import { toOpenApi } from './open-api.document.js';
import { sampleOf } from './schema-sample.js';

/** An event that the application sends. */
export interface CatalogueEvent {
  /** Name of the track event: `event` of its messages. */
  name: string;
  description?: string;
  /** JSON Schema of its `properties`. */
  schema?: JsonSchema;
  /** Body of a message, as it is sent. */
  example?: Record<string, unknown>;
}

/** The events that the application sends, for those who receive them. */
export class EventCatalogue {
  /**
   * @param events returns the events, of which the first one with a name counts. It is called each time, because modules
   * of the application may add theirs later.
   * @param title of the documents
   */
  constructor(
    private readonly events: () => readonly (EventClass | PortalEvent)[],
    private readonly title = 'Webhooks',
  ) {}

  /** Returns the events, sorted by name. */
  list(): CatalogueEvent[] {
    const byName = new Map<string, CatalogueEvent>();
    for (const event of this.events().map(toCatalogueEvent)) {
      if (!byName.has(event.name)) byName.set(event.name, event);
    }
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns the event with this name. */
  find(name: string): CatalogueEvent | undefined {
    return this.list().find((event) => event.name === name);
  }

  /** Returns an OpenAPI 3.1 document with a webhook for each event. */
  openApi(): object {
    return toOpenApi(this.list(), this.title);
  }

  /** Returns an AsyncAPI 3.0 document with a message for each event. */
  asyncApi(): object {
    return toAsyncApi(this.list(), this.title);
  }
}

/** Schemas of classes take time to make, and do not change. */
const toCatalogueEvent = foundOnce((event: EventClass | PortalEvent): CatalogueEvent => {
  const { name, ...given }: PortalEvent = isEventClass(event) ? toEventSchema(event) : event;
  const { description, ...schema } = given.schema ?? {};
  const text = given.description ?? description;
  const sample = given.schema && sampleOf(given.schema);
  const properties = given.example ?? (isPlainObject(sample) ? sample : undefined);
  return {
    name,
    ...(text !== undefined && { description: text }),
    ...(given.schema && { schema }),
    example: toExample(name, properties),
  };
}, new WeakMap());

/** Returns the body of a message with these properties. */
function toExample(name: string, properties: object | undefined): Record<string, unknown> {
  const message = new AcceptedMessage(toExampleMessage(name, properties), 0);
  return JSON.parse(toWebhookBody(message).toString()) as Record<string, unknown>;
}
