import { isMap, isSet } from 'node:util/types';

import { isPlainObject } from '../../client/message/message.rules.js';
import { isDiscardedPromise } from '../../common/promise.util.js';
import { ArgumentError } from '../../common/relay.errors.js';
import { toMessageId } from '../context/ambient-identity.js';
import type { CallContext } from './record-options.interface.js';

type Mapper = (call: CallContext) => unknown;

const IDS = new Set(['userId', 'anonymousId', 'groupId', 'previousId']);

/**
 * Returns a function that makes the fields of a message from a call: mappers are called with it, other values stay as
 * they are.
 *
 * @throws {ArgumentError} that names the field, if a value is or contains a promise, or an id has the wrong type.
 * Constants are checked immediately, results of mappers when a message is made.
 */
export function fieldsMapper(fields: object): (call: CallContext) => object {
  const constants: Record<string, unknown> = {};
  const mappers: [string, Mapper][] = [];
  for (const [name, field] of Object.entries(fields) as [string, unknown][]) {
    if (typeof field === 'function') mappers.push([name, field as Mapper]);
    else constants[name] = toField(name, field);
  }
  return (call) => {
    const mapped = { ...constants };
    for (const [name, map] of mappers) mapped[name] = toField(name, map(call));
    return mapped;
  };
}

function toField(name: string, value: unknown): unknown {
  refusePromises(name, value);
  return IDS.has(name) ? toMessageId(name, value) : value;
}

/** @throws {ArgumentError} that names the field, if a value is or contains a promise. */
export function refusePromises(name: string, value: unknown): void {
  const path = findPromise(value, new Set());
  if (path === undefined) return;
  const rule = 'must not be a promise; mappers are synchronous, so await the value in the method';
  throw new ArgumentError(`${name}${path} ${rule}`);
}

/**
 * Returns the path to the first promise in a value, such as `.items.0`. Handles the rejection of every promise in it.
 */
function findPromise(value: unknown, seen: Set<object>): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isDiscardedPromise(value)) return '';
  const values = valuesIn(value);
  if (!values || seen.has(value)) return undefined;
  seen.add(value);
  let found: string | undefined;
  for (const key of Object.keys(values)) {
    const path = findPromise(values[key], seen);
    if (path !== undefined) found ??= `.${key}${path}`;
  }
  const isConverted = 'toJSON' in value; // its own fields are not sent
  return isConverted ? undefined : found;
}

/** Returns the values in a collection or plain object; undefined for an instance of a class, which stays as it is. */
function valuesIn(value: object): Record<string, unknown> | undefined {
  if (isMap(value) || isSet(value)) return { ...[...value.values()] };
  return Array.isArray(value) || isPlainObject(value) ? (value as Record<string, unknown>) : undefined;
}
