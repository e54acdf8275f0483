import { hash } from 'node:crypto';

import { parseJson } from '../../common/value.util.js';

/** A field of a body and the text that its value must have. */
export interface SearchedValue {
  /** Dotted path, such as `properties.orderId`. */
  field: string;
  text: string;
}

/** Length of a key in hexadecimal digits: 48 bits, which every store keeps as a number. */
const KEY_DIGITS = 12;

const NONE: readonly number[] = [];

/**
 * Fields of bodies by whose values deliveries are found at once. A store keeps a key for each value: a hash of field and
 * text. Different values may have the same key, so a search compares the bodies it finds by keys.
 */
export class SearchedFields {
  private readonly fields = this.names.map((name) => ({ name, member: memberText(name) }));
  /** Keys of bodies: the deliveries of one message share its body. */
  private readonly known = new WeakMap<Buffer, readonly number[]>();

  /** @param names dotted paths */
  constructor(readonly names: readonly string[] = []) {}

  /** Returns the keys of a body; empty if it has none of the fields. */
  keysOf(body: Buffer): readonly number[] {
    if (this.fields.length === 0) return NONE;
    let keys = this.known.get(body);
    if (!keys) this.known.set(body, (keys = this.read(body)));
    return keys;
  }

  /** Returns the keys that a delivery with all these values has; empty if no value is of one of the fields. */
  keysFor(values: readonly SearchedValue[] = []): number[] {
    return values.filter(({ field }) => this.names.includes(field)).map(({ field, text }) => toKey(field, text));
  }

  private read(body: Buffer): readonly number[] {
    const possible = this.fields.filter(({ member }) => mayHoldText(body, member));
    if (possible.length === 0) return NONE;
    const message = parseJson(body.toString());
    return possible.flatMap(({ name }) => {
      const text = textAt(message, name);
      return text === undefined ? [] : toKey(name, text);
    });
  }
}

/** Whether JSON can contain a quoted text: unless the JSON has escapes, it contains it verbatim. */
export function mayHoldText(json: string | Buffer, quoted: string): boolean {
  return json.includes(quoted) || json.includes('\\');
}

/** Whether JSON can contain the field of a value. */
export function mayHoldField(json: string | Buffer, { field }: SearchedValue): boolean {
  return mayHoldText(json, memberText(field));
}

/** Whether a parsed body has a value: a number and its digits as a text are the same. */
export function hasValue(message: unknown, { field, text }: SearchedValue): boolean {
  return textAt(message, field) === text;
}

/** Returns the value of a field as text; undefined unless it is a text that is not empty, a number, true or false. */
function textAt(message: unknown, field: string): string | undefined {
  let value = message;
  for (const name of field.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isScalar && value !== '' ? String(value) : undefined;
}

/** Returns the name of a field's last member as JSON has it. */
function memberText(field: string): string {
  return JSON.stringify(field.slice(field.lastIndexOf('.') + 1));
}

function toKey(field: string, text: string): number {
  return parseInt(hash('sha256', `${field}\n${text}`, 'hex').slice(0, KEY_DIGITS), 16);
}
