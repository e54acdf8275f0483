import { definitionOf, isEventClass } from '../../common/event-class/event-definition.js';
import type { JsonSchema } from '../../common/event-class/json-schema.interface.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { findPostedFault } from '../ingest/accepted-message.js';
import { ParsedMessage } from '../ingest/parsed-message.js';

/** An event that the application sends, described for those who receive it. */
export interface PortalEvent {
  /** Name of the track event. */
  name: string;
  /** Meaning of the event. Default: none. */
  description?: string;
  /** JSON Schema of its properties. Default: none. */
  schema?: JsonSchema;
  /** Its properties in the example. Default: made from the schema. */
  example?: Record<string, unknown>;
}

const FIELDS: Record<keyof PortalEvent, (value: unknown) => string | undefined> = {
  name: (value) => (isNonEmptyString(value) ? undefined : 'must be a non-empty string'),
  description: (value) => (typeof value === 'string' ? undefined : 'must be a string'),
  schema: (value) => (isJsonObject(value) ? undefined : 'must be a JSON Schema: an object that JSON can express'),
  example: (value) => (isJsonObject(value) ? undefined : 'must be an object of properties that JSON can express'),
};

/** Time of the examples: always the same, so that documents can be compared. */
const EXAMPLE_TIME = '2026-01-31T12:00:00.000Z';

/** Returns a message of an event, as an application records it. */
export function toExampleMessage(event: string, properties: object | undefined): ParsedMessage {
  return new ParsedMessage({ type: 'track', userId: 'user-1', event, properties, timestamp: EXAMPLE_TIME });
}

/** Returns the rules that the events of the catalogue break, each as `path rule`. */
export function findCatalogueFaults(events: unknown): string[] {
  if (!Array.isArray(events)) return [];
  const names = new Set<unknown>();
  return events.flatMap((event: unknown, index) => {
    const path = `portal.events[${index}]`;
    const isClass = isEventClass(event);
    if (!isClass && (typeof event !== 'object' || event === null)) {
      return [`${path} must be an event class, or an object { name, description, schema, example }`];
    }
    const faults = isClass ? [] : findEventFaults(event as Record<string, unknown>).map((fault) => `${path}.${fault}`);
    const name = isClass ? definitionOf(event)!.name : (event as PortalEvent).name;
    const isRepeated = names.size === names.add(name).size;
    return isRepeated && faults.length === 0 ? [`${path}.name must not be that of another event`] : faults;
  });
}

function findEventFaults(event: Record<string, unknown>): string[] {
  const faults = Object.entries({ name: undefined, ...event }).flatMap(([field, value]) => {
    if (!Object.hasOwn(FIELDS, field)) return [`${field} is not a known option`];
    const rule = value === undefined && field !== 'name' ? undefined : FIELDS[field as keyof PortalEvent](value);
    return rule === undefined ? [] : [`${field} ${rule}`];
  });
  if (faults.length > 0) return faults;
  const { name, example } = event as unknown as PortalEvent;
  const fault = findPostedFault(toExampleMessage(name, example));
  return fault ? [`example must make a valid message: ${fault.message}`] : [];
}

function isJsonObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false; // it contains itself, or a BigInt
  }
}
