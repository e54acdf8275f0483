import { isPromise } from 'node:util/types';

import {
  isClassWithRules,
  metadataStorage,
  nestedClassOf,
  type PropertyRule,
  rulesOf,
  toInstance,
} from '../../common/event-class/class-metadata.util.js';
import type { EventClass } from '../../common/event-class/event-definition.js';
import type { PlanFault } from './event-check.util.js';

type Fields = Record<string, unknown>;

/**
 * Returns the class-validator rules that an event breaks. Unlike `validateSync`, it makes no messages, which may
 * contain values, and leaves no rejection of an asynchronous rule unhandled. Asynchronous rules are skipped.
 */
export function findClassFaults(type: EventClass, properties: object, parent = ''): PlanFault[] {
  const object = toInstance(type, properties) as Fields;
  return [...rulesOf(type)].flatMap(([property, rules]) => {
    const value = object[property];
    const conditions = rules.filter((rule) => rule.type === 'conditionalValidation');
    if (!conditions.every(({ constraints: [holds] }) => (holds as Condition)(object, value))) return [];
    return rules.flatMap((rule) => {
      const path = parent + property;
      if (rule.type === 'nestedValidation') return nestedFaults(type, rule, value, path);
      return brokenRules(rule, object, value).map((name) => ({ property: path, rule: name }));
    });
  });
}

type Condition = (object: Fields, value: unknown) => boolean;

/** Returns the names of a rule's constraints that a value, or one of its elements, does not meet. */
function brokenRules(rule: PropertyRule, object: Fields, value: unknown): string[] {
  if (!rule.constraintCls || rule.validateIf?.(object, value) === false) return [];
  const { constraints, propertyName: property, target } = rule;
  const targetName = typeof target === 'string' ? target : target.name;
  const args = { value, constraints, targetName, object, property };
  const values = rule.each && isCollection(value) ? [...value.values()] : [value];
  return metadataStorage()
    .getTargetValidatorConstraints(rule.constraintCls)
    .filter(({ async, instance }) => !async && !values.every((element) => meets(instance.validate(element, args))))
    .map(({ name }) => name ?? rule.type);
}

function meets(verdict: unknown): boolean {
  if (!isPromise(verdict)) return Boolean(verdict);
  verdict.catch(() => undefined);
  return true;
}

/** Returns the faults of an object in the event, or of the objects in a collection; none if their class is unknown. */
function nestedFaults(type: EventClass, rule: PropertyRule, value: unknown, path: string): PlanFault[] {
  if (value === undefined) return [];
  if (isCollection(value)) {
    return elementsOf(value).flatMap(([key, element]) => nestedFaults(type, rule, element, `${path}.${String(key)}`));
  }
  if (typeof value !== 'object' || value === null) return [{ property: path, rule: rule.type }];
  const own: unknown = value.constructor;
  const nested = isClassWithRules(own) ? own : nestedClassOf(type, rule.propertyName);
  return nested ? findClassFaults(nested, value, `${path}.`) : [];
}

type Collection = unknown[] | Set<unknown> | Map<unknown, unknown>;

const isCollection = (value: unknown): value is Collection =>
  Array.isArray(value) || value instanceof Set || value instanceof Map;

/** Returns each element with its key in a map, or its index in other collections. */
const elementsOf = (value: Collection): [key: unknown, element: unknown][] =>
  value instanceof Map ? [...value] : [...[...value].entries()];
