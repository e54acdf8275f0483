import 'reflect-metadata';

import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';

import { definitionOf, isEventClass } from '../analytics/tracking-plan/tracked-event.decorator.js';
import type { EventClass } from '../analytics/tracking-plan/tracking-plan.interface.js';
import { describe } from '../common/error.util.js';

/**
 * The event classes that compiled files export, alone or in an array; ES modules and CommonJS.
 *
 * @throws {Error} for a file that cannot be loaded, two classes of one event, and where there is no class.
 */
export async function loadEvents(files: string[]): Promise<EventClass[]> {
  // A plan on standard output must not be mixed with what the application's files print.
  console.log = console.info = console.debug = console.error;
  const byName = new Map<string, { type: EventClass; file: string }>();
  for (const path of files) {
    const file = relative('.', path);
    for (const type of exportedClasses(await load(path, file))) {
      const { name } = definitionOf(type)!;
      const other = byName.get(name);
      if (other && other.type !== type) {
        throw new Error(`${JSON.stringify(name)} is declared by two classes, in ${other.file} and in ${file}`);
      }
      if (!other) byName.set(name, { type, file });
    }
  }
  if (byName.size === 0) throw new Error(`None of these files exports an event class: ${files.join(', ')}`);
  return [...byName.values()].map(({ type }) => type);
}

async function load(path: string, file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    throw new Error(`${file} cannot be loaded: ${describe(error)}`, { cause: error });
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function exportedClasses(module: Record<string, unknown>): EventClass[] {
  // Names that Node does not recognise in a CommonJS module are in its default export.
  const inDefault: unknown[] = isObject(module.default) ? Object.values(module.default) : [];
  return [...Object.values(module), ...inDefault].flat().filter(isEventClass);
}
