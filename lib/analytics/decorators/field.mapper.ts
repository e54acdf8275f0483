import { isPlainObject } from '../../client/message/message.rules.js';
import { isDiscardedPromise } from '../../common/promise.util.js';
import { toMessageId } from '../context/ambient-identity.js';
import type { CallContext } from './record-options.interface.js';

const IDS = new Set(['userId', 'anonymousId', 'groupId', 'previousId']);

/** Objects in objects that are searched for promises; what lies deeper is taken as it is. */
const MAX_DEPTH = 8;

/**
 * Maps the fields of a message, those that are functions from the call.
 * What it returns throws an error that names the field for a promise, which JSON cannot tell, and for an id of another type.
 */
export function fieldsMapper(fields: object): (call: CallContext) => object {
  const entries = Object.entries(fields) as [string, unknown][];
  return (call) => {
    const mapped: Record<string, unknown> = {};
    for (const [name, field] of entries) {
      const value = typeof field === 'function' ? (field as (call: CallContext) => unknown)(call) : field;
      refusePromises(name, value);
      mapped[name] = IDS.has(name) ? toMessageId(name, value) : value;
    }
    return mapped;
  };
}

/** @throws {TypeError} that names the field, where a value is a promise or holds one. */
export function refusePromises(name: string, value: unknown): void {
  const path = findPromise(value, 0);
  if (!path) return;
  const field = [name, ...path].join('.');
  throw new TypeError(`${field} must not be a promise; mappers are synchronous, so await the value in the method`);
}

/** The way to the first promise in a value; each of them may reject, and is handled. */
function findPromise(value: unknown, depth: number): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isDiscardedPromise(value)) return [];
  if (depth === MAX_DEPTH || 'toJSON' in value || !(Array.isArray(value) || isPlainObject(value))) return undefined;
  let found: string[] | undefined;
  for (const [key, inner] of Object.entries(value)) {
    const path = findPromise(inner, depth + 1);
    if (path) found ??= [key, ...path];
  }
  return found;
}
