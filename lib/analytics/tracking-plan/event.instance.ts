import type { EventClass } from './tracking-plan.interface.js';

/**
 * Properties as an instance of the class that declares them, so that its rules and getters apply. The class's
 * constructor does not run, and the application's own object is not changed.
 */
export function toInstance(type: EventClass, properties: object): object {
  if (properties instanceof type) return properties;
  return Object.create(type.prototype as object, Object.getOwnPropertyDescriptors(properties)) as object;
}
