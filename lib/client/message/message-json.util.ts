import { errorMessage } from '../error.util.js';
import { toPrintable } from '../printable.util.js';
import type { Message } from './message.interface.js';
import { isPlainObject, type ObjectField } from './message.rules.js';
import { SerializedMessage } from './serialized-message.js';
import { ValidationError } from './validation.error.js';

type Fields = Record<string, unknown>;

/** Depth to which the field of an unreadable value is searched. */
const MAX_DEPTH = 20;

/** Maximum length of the field's path. */
const MAX_PATH = 200;

/** An object that JSON writes as empty, as it does a promise. `integrations` usually is one. */
const EMPTY_OBJECT = /(?<!"integrations":)\{\}/;

/** A text that JSON writes as it is, in quotes. */
const PLAIN_TEXT = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * Returns a message as JSON.
 *
 * @throws {ValidationError} that names the field which JSON cannot represent, or which is a promise.
 */
export function toJson(message: object): string {
  try {
    const json = JSON.stringify(message);
    refusePromise(json, message, []);
    return json;
  } catch (error) {
    throw unreadable(message, error);
  }
}

/**
 * Serializes a message.
 *
 * @param isByField whether the JSON of each field is to be known; to post the message, it would cost a tenth more
 * @throws {ValidationError} as `toJson`
 */
export function serialize(message: Message, isByField = false): SerializedMessage {
  return isByField ? serializeFields(message) : new SerializedMessage(toJson(message));
}

function serializeFields(message: Message): SerializedMessage {
  const ends: (string | number)[] = [];
  let json = '';
  try {
    for (const name in message) {
      const value = message[name as keyof Message];
      // Takes half the time of `JSON.stringify` for ids and names.
      const isPlain = typeof value === 'string' && PLAIN_TEXT.test(value);
      const text = isPlain ? `"${value}"` : (JSON.stringify(value) as string | undefined);
      if (text === undefined) continue;
      const member = `"${name}":${text}`;
      refusePromise(member, value, [name]);
      json += `${json === '' ? '{' : ','}${member}`;
      ends.push(name, json.length);
    }
  } catch (error) {
    throw unreadable(message, error);
  }
  return new SerializedMessage(`${json}}`, ends);
}

/** @throws {ValidationError} if a value is or contains a promise */
function refusePromise(json: string, value: unknown, path: string[]): void {
  // Searched only where there may be one: walking every message would cost a tenth of stringifying it.
  const promise = EMPTY_OBJECT.test(json) ? findPromise(value, path) : undefined;
  if (promise) throw toError(promise, 'must not be a promise: await it before the event is recorded');
}

/**
 * Returns an object of the application as JSON takes it: what its `toJSON` returns, or else the object itself. Its
 * fields may be copied then: a copy of the object itself would have no `toJSON`, which hides fields.
 *
 * @throws {ValidationError} that names the field, if `toJSON` throws or does not return an object.
 */
export function takeObject(field: ObjectField | 'message', value: unknown): Fields {
  let taken: unknown;
  try {
    taken = toJsonValue(value, field) ?? {};
  } catch (error) {
    throw unreadable({ [field]: value }, error);
  }
  if (taken === value) return taken as Fields;
  if (isPlainObject(taken)) return { ...taken };
  throw new ValidationError({ field, code: `${field}_not_object`, message: `${field} must be an object` });
}

/** Converts what was thrown while a message was read into the refusal of the message. */
export function unreadable(message: object, error: unknown): ValidationError {
  if (error instanceof ValidationError) return error;
  const { path, value } = findUnreadable(message, [], new Set());
  if (typeof value === 'bigint') return toError(path, 'must not be a BigInt: use a string or a number');
  if (value !== undefined) return toError(path, 'must not contain itself, or be nested too deeply', error);
  return toError(path, `cannot be read: ${errorMessage(error ?? 'an accessor or toJSON threw no error')}`, error);
}

function toError(path: string[], rule: string, cause?: unknown): ValidationError {
  const field = toPrintable(path.join('.').slice(0, MAX_PATH)) || 'message';
  return new ValidationError({ field, code: 'message_unreadable', message: `${field} ${rule}` }, { cause });
}

/** The value that JSON cannot represent; undefined if an accessor or `toJSON` throws. */
interface Unreadable {
  path: string[];
  value?: unknown;
}

function findUnreadable(value: unknown, path: string[], parents: Set<unknown>): Unreadable {
  if (parents.has(value) || path.length === MAX_DEPTH) return { path, value };
  parents.add(value);
  let fields: unknown;
  try {
    fields = toJsonValue(value, path[path.length - 1]);
  } catch {
    return { path };
  }
  if (typeof fields !== 'object' || fields === null) return { path, value: fields };
  for (const key of Object.keys(fields)) {
    const inner = [...path, key];
    let field: unknown;
    try {
      field = (fields as Fields)[key];
      JSON.stringify(field);
    } catch {
      return field === undefined ? { path: inner } : findUnreadable(field, inner, parents);
    }
  }
  return { path };
}

/** Returns the path of the first promise or other thenable in a value without cycles. */
function findPromise(value: unknown, path: string[]): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { then, toJSON } = value as Fields;
  if (typeof then === 'function') return path;
  if (typeof toJSON === 'function') return undefined; // its own fields are not sent
  for (const key of Object.keys(value)) {
    const found = findPromise((value as Fields)[key], [...path, key]);
    if (found) return found;
  }
  return undefined;
}

function toJsonValue(value: unknown, key = ''): unknown {
  const { toJSON } = (value ?? {}) as Fields;
  return typeof toJSON === 'function' ? (toJSON.call(value, key) as unknown) : value;
}
