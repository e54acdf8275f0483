import type { StandardSchemaV1 } from '../analytics/tracking-plan/standard-schema.interface.js';
import { definitionOf } from '../analytics/tracking-plan/tracked-event.decorator.js';
import type { EventClass } from '../analytics/tracking-plan/tracking-plan.interface.js';
import { classSchema } from './class-schema.util.js';
import { toJson } from './command.util.js';
import type { JsonSchema } from './json-schema.interface.js';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** An event of the plan, with its properties as JSON Schema. */
export interface PlannedEvent {
  name: string;
  schema: JsonSchema;
}

/** Returns the plan of these events, sorted by name. */
export function toPlannedEvents(events: EventClass[]): PlannedEvent[] {
  return events
    .map((type) => {
      const { name, description, schema: declared } = definitionOf(type)!;
      const schema = { ...(declared ? standardSchema(declared) : classSchema(type)) };
      delete schema.$schema; // The document declares it.
      // With an id of its own, references in a schema resolve within it.
      const $id = JSON.stringify(schema).includes('"$ref"') ? `urn:event:${encodeURIComponent(name)}` : undefined;
      return { name, schema: { ...($id && { $id }), ...(description && { description }), ...schema } };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Converts the plan to one JSON Schema document: each event's properties under its name in `$defs`. */
export function toJsonDocument(events: PlannedEvent[]): string {
  const $defs = Object.fromEntries(events.map(({ name, schema }) => [name, schema]));
  return toJson({ $schema: DRAFT, title: 'Tracking plan', $defs });
}

function standardSchema({ '~standard': standard }: StandardSchemaV1): JsonSchema {
  try {
    const schema = standard.jsonSchema?.input({ target: 'draft-2020-12' });
    if (schema) return schema;
  } catch {
    // JSON Schema cannot express a part of it.
  }
  return { type: 'object', $comment: `declared by a schema from ${standard.vendor} that provides no JSON Schema` };
}
