import { getMetadataStorage, type MetadataStorage } from 'class-validator';

import type { EventClass } from './tracking-plan.interface.js';

/** A rule that a decorator of class-validator put on a property. */
export type PropertyRule = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

/** Decorators have run by the time of the first event. */
const rulesByClass = new WeakMap<EventClass, Map<string, PropertyRule[]>>();

/** The rules of a class by property, in the order of their declaration, those of the classes that it extends last. */
export function rulesOf(type: EventClass): Map<string, PropertyRule[]> {
  let rules = rulesByClass.get(type);
  if (!rules) {
    rules = new Map();
    for (const rule of getMetadataStorage().getTargetValidationMetadatas(type, '', false, false)) {
      rules.set(rule.propertyName, [...(rules.get(rule.propertyName) ?? []), rule]);
    }
    rulesByClass.set(type, rules);
  }
  return rules;
}

/** The class of a property's type by the compiler's metadata, such as `String` or a class of the application. */
export function designType(type: EventClass, property: string): unknown {
  return Reflect.getMetadata('design:type', type.prototype as object, property);
}

/** Whether a value is a class that has rules. */
export function isClassWithRules(value: unknown): value is EventClass {
  return typeof value === 'function' && rulesOf(value as EventClass).size > 0;
}

/** The class of a property that is validated as an object of a class; undefined where it is unknown. */
export function nestedClassOf(type: EventClass, { type: kind, propertyName }: PropertyRule): EventClass | undefined {
  const nested = kind === 'nestedValidation' ? designType(type, propertyName) : undefined;
  return isClassWithRules(nested) ? nested : undefined;
}

/**
 * Properties as an instance of the class that declares them, so that its rules and getters apply. The class's
 * constructor does not run, and the application's own object is not changed.
 */
export function toInstance(type: EventClass, properties: object): object {
  if (properties instanceof type) return properties;
  return Object.create(type.prototype as object, Object.getOwnPropertyDescriptors(properties)) as object;
}
