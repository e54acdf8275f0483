import type { StandardSchemaV1 } from './standard-schema.interface.js';

/** A class that declares the properties of an event. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a constructor may take any arguments
export type EventClass<P extends object = object> = abstract new (...args: any) => P;

/** The event that an event class declares. */
export interface EventDefinition {
  name: string;
  description?: string;
  /** Schema of the properties, for a class made by `defineEvent`. */
  schema?: StandardSchemaV1;
}

// Stored on the class itself, so that both builds and all copies of the package find it.
const DEFINITION = Symbol.for('nestjs-analytics-relay:tracked-event');

/** Makes a class declare an event. */
export function declareEvent(type: object, definition: EventDefinition): void {
  Object.defineProperty(type, DEFINITION, { value: definition });
}

/** Returns the event that a class or its base class declares; undefined for other values. */
export function definitionOf(type: unknown): EventDefinition | undefined {
  return typeof type === 'function' ? (type as { [DEFINITION]?: EventDefinition })[DEFINITION] : undefined;
}

/** Whether a value is a class that declares an event itself. */
export function isEventClass(value: unknown): value is EventClass {
  return typeof value === 'function' && Object.prototype.hasOwnProperty.call(value, DEFINITION);
}
