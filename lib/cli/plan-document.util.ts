import type { StandardSchemaV1 } from '../analytics/tracking-plan/standard-schema.interface.js';
import { definitionOf } from '../analytics/tracking-plan/tracked-event.decorator.js';
import type { EventClass } from '../analytics/tracking-plan/tracking-plan.interface.js';
import { classSchema } from './class-schema.util.js';
import type { JsonSchema } from './json-schema.interface.js';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** An event of the plan, with its properties as JSON Schema. */
export interface PlannedEvent {
  name: string;
  schema: JsonSchema;
}

/** The plan of these events, in the order of their names. */
export function toPlannedEvents(events: EventClass[]): PlannedEvent[] {
  return events
    .map((type) => {
      const { name, description, schema: declared } = definitionOf(type)!;
      const schema = { ...(declared ? standardSchema(declared) : classSchema(type)) };
      delete schema.$schema; // The document tells it.
      // With an id of its own, references in a schema stay within it.
      const $id = JSON.stringify(schema).includes('"$ref"') ? `urn:event:${encodeURIComponent(name)}` : undefined;
      return { name, schema: { ...($id && { $id }), ...(description && { description }), ...schema } };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The plan as one JSON Schema document: each event's properties under its name in `$defs`. */
export function toJsonDocument(events: PlannedEvent[]): string {
  const $defs = Object.fromEntries(events.map(({ name, schema }) => [name, schema]));
  return `${JSON.stringify({ $schema: DRAFT, title: 'Tracking plan', $defs }, null, 2)}\n`;
}

function standardSchema({ '~standard': standard }: StandardSchemaV1): JsonSchema {
  try {
    const schema = standard.jsonSchema?.input({ target: 'draft-2020-12' });
    if (schema) return schema;
  } catch {
    // It has a part that JSON Schema cannot express.
  }
  return { type: 'object', $comment: `declared by a schema of ${standard.vendor}, which tells no JSON Schema` };
}
