import { toPrintable } from '../../common/printable.util.js';
import { findClassFaults } from './class.check.js';
import type { StandardIssue, StandardSchemaV1 } from './standard-schema.interface.js';
import { definitionOf } from './tracked-event.decorator.js';
import type { EventClass } from './tracking-plan.interface.js';

/** A rule of the tracking plan that an event breaks: never the value, which may be personal. */
export interface PlanFault {
  /** Path of the property; `properties` where it is all of them. */
  property: string;
  /** Name of the rule, such as `isString` of class-validator or `invalid_type` of zod. */
  rule: string;
}

/** Finds the rules that an event's properties break. Never throws. */
export type EventCheck = (properties: object) => PlanFault[];

/** The check of an event class. */
export function checkOf(type: EventClass): EventCheck {
  const schema = definitionOf(type)?.schema;
  const find: EventCheck = schema
    ? (properties) => schemaFaults(schema, properties)
    : (properties) => findClassFaults(type, properties);
  return (properties) => {
    try {
      return find(properties).map(({ property, rule }) => ({ property: tidy(property), rule }));
    } catch {
      return [{ property: 'properties', rule: 'a rule threw' }];
    }
  };
}

function schemaFaults(schema: StandardSchemaV1, properties: object): PlanFault[] {
  const result = schema['~standard'].validate({ ...properties });
  if ('then' in result) {
    result.then(undefined, () => undefined);
    return [{ property: 'properties', rule: 'its schema is asynchronous' }];
  }
  return (result.issues ?? []).map((issue) => ({ property: pathOf(issue), rule: ruleOf(issue) }));
}

function pathOf({ path = [] }: StandardIssue): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return keys.join('.') || 'properties';
}

/** The standard has messages alone, and those may hold values; zod and arktype tell a `code`, and valibot a `type`. */
function ruleOf(issue: StandardIssue): string {
  const { code, type } = issue as { code?: unknown; type?: unknown };
  const rule = code ?? type;
  return typeof rule === 'string' && /^\w{1,40}$/.test(rule) ? rule : 'schema';
}

/** Keys of a record can be anything that a user has typed. */
function tidy(path: string): string {
  return toPrintable(path.slice(0, 100));
}
