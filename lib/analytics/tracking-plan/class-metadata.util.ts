import { getMetadataStorage, type MetadataStorage } from 'class-validator';

import { foundOnce } from '../../common/found-once.util.js';
import type { EventClass } from './tracking-plan.interface.js';

/** A rule that a decorator of class-validator declares for a property. */
export type PropertyRule = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

/**
 * Returns the rules of a class by property, in order of declaration, with those of its base classes last. Never
 * invalidated: all decorators have run before the first event.
 */
export const rulesOf = foundOnce((type: EventClass) => {
  const rules = new Map<string, PropertyRule[]>();
  for (const rule of getMetadataStorage().getTargetValidationMetadatas(type, '', false, false)) {
    rules.set(rule.propertyName, [...(rules.get(rule.propertyName) ?? []), rule]);
  }
  return rules;
}, new WeakMap());

/**
 * Returns the class of a property's type from the compiler's metadata, such as `String` or a class of the application.
 */
export function designType(type: EventClass, property: string): unknown {
  return Reflect.getMetadata('design:type', type.prototype as object, property);
}

export function isClassWithRules(value: unknown): value is EventClass {
  return typeof value === 'function' && rulesOf(value as EventClass).size > 0;
}

/** Returns the class of a property with nested validation; undefined if it is unknown. */
export function nestedClassOf(type: EventClass, property: string): EventClass | undefined {
  const nested = designType(type, property);
  return isClassWithRules(nested) ? nested : undefined;
}

/**
 * Returns properties as an instance of the class that declares them, so that its rules and getters apply. The class's
 * constructor does not run, and the application's own object is not changed.
 */
export function toInstance(type: EventClass, properties: object): object {
  if (properties instanceof type) return properties;
  return Object.create(type.prototype as object, Object.getOwnPropertyDescriptors(properties)) as object;
}
