import { getMetadataStorage, type MetadataStorage } from 'class-validator';

import type { EventClass } from './tracking-plan.interface.js';

/** A rule that a decorator of class-validator put on a property. */
export type PropertyRule = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

/** The rules of a class, in the order of their declaration, those of the classes that it extends last. */
export function rulesOf(type: EventClass): PropertyRule[] {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
}

/** The class of a property's type by the compiler's metadata, such as `String` or a class of the application. */
export function designType(type: EventClass, property: string): unknown {
  return Reflect.getMetadata('design:type', type.prototype as object, property);
}

/** The class of a property that is validated as an object of a class; undefined where it is unknown. */
export function nestedClassOf(type: EventClass, { type: kind, propertyName }: PropertyRule): EventClass | undefined {
  const nested = kind === 'nestedValidation' ? designType(type, propertyName) : undefined;
  return typeof nested === 'function' && rulesOf(nested as EventClass).length > 0 ? (nested as EventClass) : undefined;
}

/**
 * Properties as an instance of the class that declares them, so that its rules and getters apply. The class's
 * constructor does not run, and the application's own object is not changed.
 */
export function toInstance(type: EventClass, properties: object): object {
  if (properties instanceof type) return properties;
  return Object.create(type.prototype as object, Object.getOwnPropertyDescriptors(properties)) as object;
}
