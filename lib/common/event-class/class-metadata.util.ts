import type { MetadataStorage } from 'class-validator';

import { foundOnce } from '../found-once.util.js';
import { PackageError } from '../relay.errors.js';
import { findClassValidator } from './class-validator.loader.cjs';
import type { EventClass } from './event-definition.js';

/** A rule that a decorator of class-validator declares for a property. */
export type PropertyRule = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

/**
 * Returns what the decorators of class-validator have declared.
 * @throws {PackageError} that says what to install, if it is missing
 */
export function metadataStorage(): MetadataStorage {
  const found = findClassValidator();
  if (found) return found.getMetadataStorage();
  const fault = '@TrackedEvent needs the package class-validator, which is not installed: npm install class-validator';
  throw new PackageError('package_missing', fault);
}

/**
 * Returns the rules of a class by property, in order of declaration, with those of its base classes last. Never
 * invalidated: all decorators have run before the first event.
 */
export const rulesOf = foundOnce((type: EventClass) => {
  const rules = new Map<string, PropertyRule[]>();
  for (const rule of metadataStorage().getTargetValidationMetadatas(type, '', false, false)) {
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
