import { designType, nestedClassOf, type PropertyRule, rulesOf } from './class-metadata.util.js';
import type { EventClass } from './event-definition.js';
import type { JsonSchema } from './json-schema.interface.js';
import { keywordsOf } from './rule-keywords.util.js';

/** Converts the class-validator decorators and property types of a class to JSON Schema. */
export function classSchema(type: EventClass, parents: EventClass[] = []): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, rules] of rulesOf(type)) {
    properties[name] = propertySchema(type, name, rules, [...parents, type]);
    if (!rules.some(isCondition)) required.push(name);
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

const isCondition = ({ type }: PropertyRule): boolean => type === 'conditionalValidation';

function propertySchema(type: EventClass, name: string, rules: PropertyRule[], parents: EventClass[]): JsonSchema {
  const declared = declaredSchema(designType(type, name));
  const ofElements = rules.filter(({ each }) => each);
  const ofProperty = rules.filter((rule) => !rule.each && !isCondition(rule));
  const schema = apply(declared, ofProperty, type, parents);
  if (ofElements.length === 0) return schema;
  return { ...schema, type: 'array', items: apply({}, ofElements, type, parents) };
}

/** Adds the keywords of the rules. Rules without a keyword are named in `$comment`. */
function apply(schema: JsonSchema, rules: PropertyRule[], type: EventClass, parents: EventClass[]): JsonSchema {
  const unexpressed: string[] = [];
  for (const rule of rules) {
    if (rule.type === 'nestedValidation') {
      const nested = nestedClassOf(type, rule.propertyName);
      // A class that contains itself would recurse without end.
      const isNew = nested !== undefined && !rule.each && !parents.includes(nested);
      Object.assign(schema, isNew ? classSchema(nested, parents) : { type: rule.each ? 'object' : schema.type });
      continue;
    }
    const keywords = keywordsOf(rule, schema);
    if (keywords) Object.assign(schema, keywords);
    else unexpressed.push(nameOf(rule));
  }
  return unexpressed.length > 0 ? { ...schema, $comment: `rules: ${unexpressed.sort().join(', ')}` } : schema;
}

function declaredSchema(declared: unknown): JsonSchema {
  if (declared === String) return { type: 'string' };
  if (declared === Number) return { type: 'number' };
  if (declared === Boolean) return { type: 'boolean' };
  if (declared === Date) return { type: 'string', format: 'date-time' };
  if (declared === Array) return { type: 'array' };
  return typeof declared === 'function' && declared !== Object ? { type: 'object' } : {};
}

function nameOf({ name, constraintCls, type }: PropertyRule): string {
  return name ?? (constraintCls as { name?: string } | undefined)?.name ?? type;
}
