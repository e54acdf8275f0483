import { BODY_FIELDS } from '../routing/webhook.body.js';
import { MAX_DEPTH } from './message.depth.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;

/** Escapes that `JSON.stringify` writes too; a unicode escape is most often not one. */
const COMMON_ESCAPES = new Set(Buffer.from('"\\bfnrt'));

/** Digits that a double holds exactly, so that it is written as it was read. */
const EXACT_DIGITS = 15;

/** Keys of one object that are compared with each other. */
const MAX_KEYS = 64;

/** Places of a message in the table of spans: its own, then those of its fields, each a start and an end. */
export const STRIDE = 2 + 2 * BODY_FIELDS.length;

/** Ends a scan: too deep, or not what was expected. */
export const UNUSABLE = new Error('the text cannot be used');

/**
 * Hashes of the keys of the objects that are open: equal ones may be equal keys, of which a parser drops one. A scan
 * is never interrupted, so that all can use the same.
 */
const KEYS = new Int32Array(MAX_DEPTH * MAX_KEYS);

const FIELD_BY_HASH = new Map(
  BODY_FIELDS.map((field, index) => [
    [...Buffer.from(field)].reduce((hash, byte) => (Math.imul(hash, 31) + byte) | 0, 0),
    index,
  ]),
);

/** One pass over valid JSON. Each method takes the place of what it reads, and returns the place behind it. */
export class MessageScan {
  /** Whether what was read since it was set is what `JSON.stringify` would write. */
  private canonical = true;
  /** How many keys the objects have that are open. */
  private openKeys = 0;
  /** Hash of the last key. */
  private hash = 0;

  constructor(
    private readonly bytes: Buffer,
    readonly spans: Int32Array,
  ) {}

  envelope(at: number, count: number): number {
    const { bytes } = this;
    let found = false;
    at = this.space(at + 1);
    while (bytes[at] === QUOTE) {
      const keyEnd = this.string(at);
      const key = bytes.toString('latin1', at + 1, keyEnd - 1);
      at = this.space(this.space(keyEnd) + 1);
      const isBatch = key === 'batch';
      // Of two batches, the parser takes the last; an escaped key may be a second one.
      if ((isBatch && found) || key.includes('\\')) throw UNUSABLE;
      if (isBatch) found = true;
      at = this.space(isBatch ? this.messages(at, count) : this.value(at, 1));
      if (bytes[at] === COMMA) at = this.space(at + 1);
    }
    if (!found) throw UNUSABLE;
    return at + 1;
  }

  private messages(at: number, count: number): number {
    const { bytes } = this;
    at = this.space(at + 1);
    let index = 0;
    while (bytes[at] !== CLOSE_BRACKET) {
      if (index === count) throw UNUSABLE;
      at = this.space(bytes[at] === OPEN_BRACE ? this.message(at, index) : this.value(at, 1));
      index++;
      if (bytes[at] === COMMA) at = this.space(at + 1);
    }
    return at + 1;
  }

  message(at: number, index: number): number {
    const place = index * STRIDE;
    this.canonical = true;
    const end = this.object(at, 1, place + 2);
    if (this.canonical) {
      this.spans[place] = at;
      this.spans[place + 1] = end;
    } else {
      this.spans.fill(0, place, place + STRIDE);
    }
    return end;
  }

  /** @param place where the spans of the object's fields are noted; -1 for none */
  private object(at: number, depth: number, place: number): number {
    if (depth > MAX_DEPTH) throw UNUSABLE;
    const { bytes } = this;
    const firstKey = this.openKeys;
    at = this.inner(at + 1);
    while (bytes[at] === QUOTE) {
      const key = at;
      at = this.key(at, firstKey);
      const keyEnd = at - 1;
      const field = place < 0 ? -1 : this.fieldOf(key + 1, keyEnd);
      at = this.inner(this.inner(at) + 1);
      const start = at;
      at = this.value(at, depth);
      if (field >= 0) {
        this.spans[place + 2 * field] = start;
        this.spans[place + 2 * field + 1] = at;
      }
      at = this.inner(at);
      if (bytes[at] === COMMA) at = this.inner(at + 1);
    }
    this.openKeys = firstKey;
    return at + 1;
  }

  private array(at: number, depth: number): number {
    if (depth > MAX_DEPTH) throw UNUSABLE;
    const { bytes } = this;
    at = this.inner(at + 1);
    while (bytes[at] !== CLOSE_BRACKET) {
      at = this.inner(this.value(at, depth));
      if (bytes[at] === COMMA) at = this.inner(at + 1);
    }
    return at + 1;
  }

  private value(at: number, depth: number): number {
    const first = this.bytes[at]!;
    if (first === QUOTE) return this.string(at);
    if (first === OPEN_BRACE) return this.object(at, depth + 1, -1);
    if (first === OPEN_BRACKET) return this.array(at, depth + 1);
    if (first === MINUS || (first >= ZERO && first <= NINE)) return this.number(at);
    return at + (first === 0x66 ? 'false'.length : 'true'.length); // null is as long as true
  }

  private string(at: number): number {
    const { bytes } = this;
    for (;;) {
      const byte = bytes[++at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH && !COMMON_ESCAPES.has(bytes[++at]!)) this.canonical = false;
    }
  }

  private key(at: number, firstKey: number): number {
    const { bytes } = this;
    // Numbers are put before other keys.
    const first = bytes[at + 1]!;
    if (first >= ZERO && first <= NINE) this.canonical = false;
    let hash = 0;
    for (;;) {
      const byte = bytes[++at]!;
      if (byte === QUOTE) break;
      hash = (Math.imul(hash, 31) + byte) | 0;
      if (byte !== BACKSLASH) continue;
      if (!COMMON_ESCAPES.has(bytes[++at]!)) this.canonical = false;
      hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
    }
    this.hash = hash;
    if (this.openKeys - firstKey >= MAX_KEYS) this.canonical = false;
    for (let other = firstKey; other < this.openKeys; other++) if (KEYS[other] === hash) this.canonical = false;
    if (this.canonical) KEYS[this.openKeys++] = hash;
    return at + 1;
  }

  /** Which field of a body the last key names, by its number; -1 when none. */
  private fieldOf(key: number, keyEnd: number): number {
    const field = FIELD_BY_HASH.get(this.hash);
    if (field === undefined) return -1;
    const name = BODY_FIELDS[field]!;
    if (name.length !== keyEnd - key) return -1;
    for (let index = 0; index < name.length; index++) {
      if (this.bytes[key + index] !== name.charCodeAt(index)) return -1;
    }
    return field;
  }

  private number(at: number): number {
    const { bytes } = this;
    const start = bytes[at] === MINUS ? at + 1 : at;
    let digits = 0;
    let point = 0;
    for (at = start; ; at++) {
      const byte = bytes[at]!;
      if (byte >= ZERO && byte <= NINE) digits++;
      else if (byte === POINT) point = at;
      else if (byte === 0x65 || byte === 0x45 || byte === 0x2b || byte === MINUS) digits = Infinity;
      else break;
    }
    const isZero = digits === 1 && bytes[start] === ZERO;
    const isTiny = point > 0 && bytes.toString('latin1', start, start + 5) === '0.000';
    if (digits > EXACT_DIGITS || (point > 0 && bytes[at - 1] === ZERO) || isTiny) this.canonical = false;
    if (isZero && bytes[start - 1] === MINUS) this.canonical = false;
    return at;
  }

  /** Skips white space within a message, which `JSON.stringify` does not write. */
  private inner(at: number): number {
    if (this.bytes[at]! > SPACE) return at;
    this.canonical = false;
    return this.space(at);
  }

  /** Skips white space. */
  space(at: number): number {
    while (this.bytes[at]! <= SPACE) at++;
    return at;
  }
}
