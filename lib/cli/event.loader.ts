import 'reflect-metadata';

import { readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { errorMessage } from '../client/error.util.js';
import { RelayError } from '../client/relay.error.js';
import { definitionOf, type EventClass, isEventClass } from '../common/event-class/event-definition.js';
import { argumentFault } from './command.util.js';

const EVENT_FILE = /\.events?\.[cm]?js$/;

/**
 * Loads the event classes that compiled files export, alone or in an array. Supports ES modules and CommonJS.
 *
 * @param paths files, or folders whose event files are loaded
 * @throws {OptionsError} if a path has no event file
 * @throws {RelayError} if a file cannot be loaded, two classes declare the same event, or no class is found
 */
export async function loadEvents(paths: string[]): Promise<EventClass[]> {
  // Output of the application's files must not mix with a plan on standard output.
  console.log = console.info = console.debug = console.error;
  const files = [...new Set(paths.flatMap(findEventFiles))].sort().map((path) => relative('.', path));
  const byName = new Map<string, { type: EventClass; file: string }>();
  for (const file of files) {
    for (const type of exportedClasses(await load(file))) {
      const { name } = definitionOf(type)!;
      const other = byName.get(name);
      if (other && other.type !== type) {
        const event = JSON.stringify(name);
        throw new RelayError('event_repeated', `${event} is declared by two classes, in ${other.file} and in ${file}`);
      }
      if (!other) byName.set(name, { type, file });
    }
  }
  if (byName.size === 0) {
    throw new RelayError('no_events', `No event class found in: ${files.join(', ')}`);
  }
  return [...byName.values()].map(({ type }) => type);
}

function findEventFiles(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw argumentFault(`${path} does not exist`);
  if (!found.isDirectory()) return [resolve(path)];
  const files = walk(resolve(path)).filter((file) => EVENT_FILE.test(file));
  if (files.length === 0) {
    throw argumentFault(`${path} contains no files named *.event.js or *.events.js (also .mjs, .cjs)`);
  }
  return files;
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [join(folder, entry.name)];
    return entry.name === 'node_modules' ? [] : walk(join(folder, entry.name));
  });
}

async function load(file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    throw new RelayError('event_file_not_loaded', `${file} cannot be loaded: ${errorMessage(cause)}`, { cause });
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function exportedClasses(module: Record<string, unknown>): EventClass[] {
  // Names that Node does not recognise in a CommonJS module are in its default export.
  const inDefault: unknown[] = isObject(module.default) ? Object.values(module.default) : [];
  return [...Object.values(module), ...inDefault].flat().filter(isEventClass);
}
