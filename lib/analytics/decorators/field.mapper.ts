import { isMap, isSet } from 'node:util/types';

import { isPlainObject } from '../../client/message/message.rules.js';
import { isDiscardedPromise } from '../../common/promise.util.js';
import { ArgumentError } from '../../common/relay.errors.js';
import { toMessageId } from '../context/ambient-identity.js';
import type { CallContext } from './record-options.interface.js';

type Mapper = (call: CallContext) => unknown;

const IDS = new Set(['userId', 'anonymousId', 'groupId', 'previousId']);

/**
 * Makes the fields of a message from a call: a function is called with it, any other value is taken as it is.
 *
 * @throws {ArgumentError} that names the field, for a value that is a promise or holds one, and for an id of a wrong type: at once
 * where the value is given, and when a message is made where a function returns it.
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

/** @throws {ArgumentError} that names the field, where a value is a promise or holds one. */
export function refusePromises(name: string, value: unknown): void {
  const path = findPromise(value, new Set());
  if (path === undefined) return;
  const rule = 'must not be a promise; mappers are synchronous, so await the value in the method';
  throw new ArgumentError(`${name}${path} ${rule}`);
}

/** The way to the first promise in a value, such as `.items.0`. Each promise on the way may reject, and is handled. */
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
  return 'toJSON' in value ? undefined : found; // what it makes of them is its own matter
}

/** What a value holds; undefined for an object of a class, which is taken as it is. */
function valuesIn(value: object): Record<string, unknown> | undefined {
  if (isMap(value) || isSet(value)) return { ...[...value.values()] };
  return Array.isArray(value) || isPlainObject(value) ? (value as Record<string, unknown>) : undefined;
}
