import { classSchema } from './class-schema.util.js';
import { definitionOf, type EventClass } from './event-definition.js';
import type { JsonSchema } from './json-schema.interface.js';
import type { StandardSchemaV1 } from './standard-schema.interface.js';

/** An event with its properties as JSON Schema. */
export interface EventSchema {
  name: string;
  schema: JsonSchema;
}

/** Returns the events that these classes declare, sorted by name. */
export function toEventSchemas(types: readonly EventClass[]): EventSchema[] {
  return types
    .map(toEventSchema)
    .map(({ name, schema }) => {
      // With an id of its own, references in a schema resolve within it.
      const $id = JSON.stringify(schema).includes('"$ref"') ? `urn:event:${encodeURIComponent(name)}` : undefined;
      return { name, schema: { ...($id && { $id }), ...schema } };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the event that a class declares. */
export function toEventSchema(type: EventClass): EventSchema {
  const { name, description, schema: declared } = definitionOf(type)!;
  const schema = { ...(declared ? standardSchema(declared) : classSchema(type)) };
  delete schema.$schema; // The document declares it.
  return { name, schema: { ...(description && { description }), ...schema } };
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
