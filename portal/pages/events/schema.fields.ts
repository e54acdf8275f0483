/** A field that a JSON Schema names. */
export interface SchemaField {
  /** Path such as `customer.id`, of items of an array `lines[].sku`. */
  name: string;
  type: string;
  isRequired: boolean;
  description?: string | undefined;
}

/** A part of a JSON Schema, which may have anything. */
interface Schema {
  type?: unknown;
  enum?: unknown;
  const?: unknown;
  format?: unknown;
  description?: unknown;
  properties?: unknown;
  required?: unknown;
  items?: unknown;
  [keyword: string]: unknown;
}

/** Levels below the first that are shown; the schema itself has all. */
const MAX_LEVELS = 4;

/** Maximum number of fields. */
const MAX_FIELDS = 300;

/** Returns the fields that a schema names in `properties`, those of objects in it as well. */
export function fieldsOf(schema: object): SchemaField[] {
  const fields: SchemaField[] = [];
  add(schema as Schema, '', 0);
  return fields;

  function add({ properties, required }: Schema, prefix: string, level: number): void {
    const names: unknown[] = Array.isArray(required) ? required : [];
    for (const [key, value] of Object.entries(Object(properties) as Record<string, unknown>)) {
      if (fields.length >= MAX_FIELDS) return;
      const field = Object(value) as Schema;
      const { description } = field;
      fields.push({
        name: prefix + key,
        type: typeOf(field),
        isRequired: names.includes(key),
        description: typeof description === 'string' ? description : undefined,
      });
      if (level >= MAX_LEVELS) continue;
      add(field, `${prefix}${key}.`, level + 1);
      add(Object(field.items) as Schema, `${prefix}${key}[].`, level + 1);
    }
  }
}

function typeOf({ type, format, enum: values, const: only }: Schema): string {
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (only !== undefined) return JSON.stringify(only);
  const types: unknown[] = Array.isArray(type) ? type : type === undefined ? [] : [type];
  return [types.map(String).join(' | '), typeof format === 'string' && `(${format})`].filter(Boolean).join(' ');
}
