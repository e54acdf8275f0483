import type { EventSchema } from '../common/event-class/event-schema.util.js';
import { toJson } from './command.util.js';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** Converts the plan to one JSON Schema document: each event's properties under its name in `$defs`. */
export function toJsonDocument(events: EventSchema[]): string {
  const $defs = Object.fromEntries(events.map(({ name, schema }) => [name, schema]));
  return toJson({ $schema: DRAFT, title: 'Tracking plan', $defs });
}
