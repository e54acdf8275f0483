import type { JsonSchema } from '../../common/event-class/json-schema.interface.js';

/** Maximum number of elements that a list gets to satisfy `minItems`, and of characters to satisfy `minLength`. */
const MAX_ITEMS = 3;
const MAX_LENGTH = 100;

const FORMATS: Record<string, string> = {
  'date-time': '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '203.0.113.7',
  ipv6: '2001:db8::7',
  uri: 'https://example.com/',
  uuid: '0195f2d4-6f3c-7c1a-9f50-2d7e5a1b3c4d',
};

/**
 * Returns a value that matches the usual keywords of a JSON Schema, always the same one; undefined if there is none.
 * Ignores `pattern`. Never throws.
 */
export function sampleOf(schema: JsonSchema): unknown {
  try {
    return new Sampler(schema).sample(schema);
  } catch {
    return undefined; // a keyword has a value of a wrong type
  }
}

class Sampler {
  /** References that are being resolved: a schema may refer to itself. */
  private readonly open = new Set<string>();

  /** @param root where references begin */
  constructor(private readonly root: JsonSchema) {}

  sample(schema: JsonSchema | boolean | undefined): unknown {
    if (typeof schema !== 'object' || schema === null) return undefined;
    const { $ref, allOf, anyOf, oneOf, ...own } = schema as JsonSchema & { $ref?: string; allOf?: JsonSchema[] };
    if ($ref !== undefined) return this.sampleReferenced($ref);
    if ('const' in own) return own.const;
    if ('default' in own) return own.default;
    const [given] = [own.examples, own.enum].flatMap((values) => (values as unknown[] | undefined) ?? []);
    if (given !== undefined) return given;
    const [alternative] = anyOf ?? oneOf ?? [];
    const parts = [...(allOf ?? []), ...(alternative ? [alternative] : [])];
    return parts.length > 0 ? this.sample(this.merge([own, ...parts])) : this.sampleType(own);
  }

  private sampleReferenced(reference: string): unknown {
    if (this.open.has(reference)) return undefined;
    this.open.add(reference);
    const value = this.sample(this.resolve(reference));
    this.open.delete(reference);
    return value;
  }

  private sampleType(schema: JsonSchema): unknown {
    switch (typeOf(schema)) {
      case 'object':
        return this.sampleObject(schema);
      case 'array':
        return this.sampleList(schema);
      case 'string':
        return sampleText(schema);
      case 'integer':
        return sampleNumber(schema, 1);
      case 'number':
        return sampleNumber(schema);
      case 'boolean':
        return true;
      default:
        return null;
    }
  }

  private sampleObject({ properties = {} }: JsonSchema): object {
    const samples = Object.entries(properties).map(([name, schema]) => [name, this.sample(schema)] as const);
    return Object.fromEntries(samples.filter(([, value]) => value !== undefined));
  }

  private sampleList({ prefixItems = [], items, minItems = 1, maxItems = MAX_ITEMS }: JsonSchema): unknown[] {
    const length = Math.min(Math.max(Number(minItems), 1), Number(maxItems), MAX_ITEMS);
    const first = (prefixItems as JsonSchema[]).map((item) => this.sample(item));
    const others = Array.from({ length: Math.max(0, length - first.length) }, () => this.sample(items));
    return [...first, ...others].filter((value) => value !== undefined);
  }

  /** Merges schemas that all apply. */
  private merge(schemas: JsonSchema[]): JsonSchema {
    return schemas.reduce((merged, { $ref, ...schema }) => {
      const part = typeof $ref === 'string' ? { ...this.resolve($ref), ...schema } : schema;
      const properties = { ...merged.properties, ...part.properties };
      return { ...merged, ...part, ...(Object.keys(properties).length > 0 && { properties }) };
    }, {});
  }

  /** Returns the part that a reference such as `#/$defs/money` names; undefined for one to elsewhere. */
  private resolve(reference: string): JsonSchema | undefined {
    if (!reference.startsWith('#')) return undefined;
    const names = decodeURIComponent(reference).split('/').slice(1);
    return names.reduce<JsonSchema | undefined>((part, name) => {
      const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
      return part && Object.hasOwn(part, key) ? (part[key] as JsonSchema) : undefined;
    }, this.root);
  }
}

/** Returns the first type other than null; the one that other keywords suggest if there is none. */
function typeOf({ type, properties, items, ...schema }: JsonSchema): string {
  const [first = type && 'null'] = [type ?? []].flat().filter((name) => name !== 'null');
  if (first) return first;
  if (properties) return 'object';
  if (items ?? schema.prefixItems) return 'array';
  return schema.minimum !== undefined || schema.maximum !== undefined ? 'number' : 'string';
}

function sampleText({ format = '', minLength = 0, maxLength = MAX_LENGTH }: JsonSchema): string {
  const text = Object.hasOwn(FORMATS, format) ? FORMATS[format]! : 'text';
  return text.padEnd(Math.min(Number(minLength), MAX_LENGTH), '.').slice(0, Number(maxLength));
}

/**
 * Returns the number nearest to 1 that is within the bounds.
 * @param step between two numbers; undefined if any number will do
 */
function sampleNumber(schema: JsonSchema, step?: number): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf = step } = schema as Record<string, number>;
  const low = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity);
  const high = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity);
  const gap = multipleOf ?? Math.min(0.5, (high - low) / 2);
  const least = low === exclusiveMinimum ? low + gap : low;
  const most = high === exclusiveMaximum ? high - gap : high;
  const value = Math.min(Math.max(1, least), most);
  if (multipleOf === undefined) return value;
  return (value === most ? Math.floor(value / multipleOf) : Math.ceil(value / multipleOf)) * multipleOf;
}
