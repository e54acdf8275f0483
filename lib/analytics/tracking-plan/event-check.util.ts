import { toPrintable } from '../../client/printable.util.js';
import { definitionOf, type EventClass } from '../../common/event-class/event-definition.js';
import type { StandardIssue, StandardSchemaV1 } from '../../common/event-class/standard-schema.interface.js';
import { findClassFaults } from './class-check.util.js';

/** A rule of the tracking plan that an event breaks, without the value, which may be personal. */
export interface PlanFault {
  /** Path of the property; `properties` for all of them. */
  property: string;
  /** Name of the rule, such as `isString` of class-validator or `invalid_type` of zod. */
  rule: string;
}

/** Returns the rules of an event class that properties break. Never throws. */
export function findPlanFaults(type: EventClass, properties: object): PlanFault[] {
  const schema = definitionOf(type)?.schema;
  try {
    const faults = schema ? schemaFaults(schema, properties) : findClassFaults(type, properties);
    return faults.map(({ property, rule }) => ({ property: toPrintable(property.slice(0, 100)), rule }));
  } catch {
    return [{ property: 'properties', rule: 'a rule threw an error' }];
  }
}

function schemaFaults(schema: StandardSchemaV1, properties: object): PlanFault[] {
  const result = schema['~standard'].validate({ ...properties });
  if ('then' in result) {
    result.then(undefined, () => undefined);
    return [{ property: 'properties', rule: 'asynchronous schemas are not supported' }];
  }
  return (result.issues ?? []).map((issue) => ({ property: pathOf(issue), rule: ruleOf(issue) }));
}

function pathOf({ path = [] }: StandardIssue): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return keys.join('.') || 'properties';
}

/**
 * Returns the name of the rule: the `code` of zod and arktype, or the `type` of valibot. Messages may contain values.
 */
function ruleOf(issue: StandardIssue): string {
  const { code, type } = issue as { code?: unknown; type?: unknown };
  const rule = code ?? type;
  return typeof rule === 'string' && /^\w{1,40}$/.test(rule) ? rule : 'schema';
}
