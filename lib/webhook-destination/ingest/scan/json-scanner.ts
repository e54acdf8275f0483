import { MAX_DEPTH } from '../posted-message.interface.js';

/** Bytes of JSON. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

const membersOf = (bytes: Iterable<number>): Uint8Array => {
  const table = new Uint8Array(256);
  for (const byte of bytes) table[byte] = 1;
  return table;
};

/** Bytes that stand for themselves in a string. */
const PLAIN = membersOf(Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte >= SPACE));
PLAIN[QUOTE] = PLAIN[BACKSLASH] = 0;

/** Escapes that `JSON.stringify` also writes; it rarely writes a unicode escape. */
const COMMON_ESCAPES = membersOf(Buffer.from('"\\bfnrt'));

const WHITE_SPACE = membersOf(Buffer.from(' \t\r\n'));
const SIGNS_AND_EXPONENTS = membersOf(Buffer.from('.eE+-'));
const LITERALS = new Map(['true', 'false', 'null'].map((text) => [text.charCodeAt(0), Buffer.from(text)]));

/** Number of digits that a double holds exactly, so a number is serialized as it was read. */
const EXACT_DIGITS = 15;

/** Maximum number of keys of one object that are compared with each other. */
const MAX_KEYS = 64;

/** Whether a value that begins with this byte is a number. */
export const isNumberStart = (byte: number): boolean => byte === MINUS || (byte >= ZERO && byte <= NINE);

/** Thrown to end a scan. */
export const UNUSABLE = new Error('the text cannot be used');

/**
 * Hashes of the keys of all open objects: equal hashes may be equal keys, of which a parser drops one. All scans share
 * it, because a scan is never interrupted.
 */
const KEYS = new Int32Array(MAX_DEPTH * MAX_KEYS);

/**
 * Reads the bytes of JSON once and finds the end of each value without creating the value. A text that is not JSON ends
 * the scan, or is not canonical.
 *
 * Each method takes the position of what it reads, and returns the position after it.
 */
export abstract class JsonScanner {
  /** Whether the bytes read since it was set are exactly what `JSON.stringify` would write. */
  protected canonical = true;
  /** Whether a string read since it was set has a backslash. */
  protected escaped = false;
  /** Number of keys of all open objects. */
  protected openKeys = 0;
  /** Hash of the last key. */
  private hash = 0;

  constructor(protected readonly bytes: Buffer) {}

  /** Records a member of an outermost object; `hash` is that of its key. */
  protected abstract recordMember(hash: number, key: number, keyEnd: number, start: number, end: number): void;

  protected object(at: number, depth: number): number {
    if (depth > MAX_DEPTH) throw UNUSABLE;
    const { bytes } = this;
    const firstKey = this.openKeys;
    at = this.inner(at + 1);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    for (;;) {
      const key = this.expect(QUOTE, at) + 1;
      const keyEnd = this.key(at, firstKey);
      const { hash } = this;
      const start = this.inner(this.expect(COLON, this.inner(keyEnd)) + 1);
      const end = this.value(start, depth);
      if (depth === 1) this.recordMember(hash, key, keyEnd - 1, start, end);
      at = this.inner(end);
      if (bytes[at] !== COMMA) break;
      at = this.inner(at + 1);
    }
    this.openKeys = firstKey;
    return this.expect(CLOSE_BRACE, at) + 1;
  }

  protected value(at: number, depth: number): number {
    const first = this.bytes[at]!;
    if (first === QUOTE) return this.string(at);
    if (first === OPEN_BRACE) return this.object(at, depth + 1);
    if (first === OPEN_BRACKET) return this.array(at, depth + 1);
    if (isNumberStart(first)) return this.number(at);
    return this.literal(at);
  }

  private array(at: number, depth: number): number {
    if (depth > MAX_DEPTH) throw UNUSABLE;
    const { bytes } = this;
    at = this.inner(at + 1);
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    for (;;) {
      at = this.inner(this.value(at, depth));
      if (bytes[at] !== COMMA) break;
      at = this.inner(at + 1);
    }
    return this.expect(CLOSE_BRACKET, at) + 1;
  }

  protected string(at: number): number {
    const { bytes } = this;
    for (;;) {
      do at++;
      while (PLAIN[bytes[at]!] === 1);
      if (bytes[at] === QUOTE) return at + 1;
      if (bytes[at] !== BACKSLASH) throw UNUSABLE;
      this.escaped = true;
      if (COMMON_ESCAPES[bytes[++at]!] !== 1) this.canonical = false;
    }
  }

  private key(at: number, firstKey: number): number {
    const { bytes } = this;
    // `JSON.stringify` writes numeric keys first.
    const first = bytes[at + 1]!;
    if (first >= ZERO && first <= NINE) this.canonical = false;
    let hash = 0;
    for (;;) {
      let byte = bytes[++at]!;
      while (PLAIN[byte] === 1) {
        hash = (Math.imul(hash, 31) + byte) | 0;
        byte = bytes[++at]!;
      }
      if (byte === QUOTE) break;
      if (byte !== BACKSLASH) throw UNUSABLE;
      byte = bytes[++at]!;
      if (COMMON_ESCAPES[byte] !== 1) this.canonical = false;
      hash = (Math.imul(Math.imul(hash, 31) + BACKSLASH, 31) + byte) | 0;
    }
    this.hash = hash;
    if (this.openKeys - firstKey >= MAX_KEYS) this.canonical = false;
    for (let other = firstKey; other < this.openKeys; other++) if (KEYS[other] === hash) this.canonical = false;
    if (this.canonical) KEYS[this.openKeys++] = hash;
    return at + 1;
  }

  private number(at: number): number {
    const { bytes } = this;
    const start = bytes[at] === MINUS ? at + 1 : at;
    const point = this.digits(start);
    let digits = point - start;
    const isZero = bytes[start] === ZERO;
    if (digits === 0 || (isZero && digits > 1)) this.canonical = false;
    at = point;
    if (bytes[point] === POINT) {
      at = this.digits(point + 1);
      digits += at - point - 1;
      const isTiny = isZero && bytes.toString('latin1', point + 1, point + 4) === '000';
      // Without digits, the last byte is the point.
      if (isTiny || bytes[at - 1] === ZERO || bytes[at - 1] === POINT) this.canonical = false;
    } else if (isZero && start > 0 && bytes[start - 1] === MINUS) {
      this.canonical = false;
    }
    if (digits > EXACT_DIGITS) this.canonical = false;
    if (SIGNS_AND_EXPONENTS[bytes[at]!] === 1) this.canonical = false;
    while (SIGNS_AND_EXPONENTS[bytes[at]!] === 1) at = this.digits(at + 1);
    return at;
  }

  private digits(at: number): number {
    const { bytes } = this;
    while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
    return at;
  }

  private literal(at: number): number {
    const literal = LITERALS.get(this.bytes[at]!);
    if (literal === undefined) throw UNUSABLE;
    for (const byte of literal) this.expect(byte, at++);
    return at;
  }

  protected expect(byte: number, at: number): number {
    if (this.bytes[at] !== byte) throw UNUSABLE;
    return at;
  }

  /** Skips white space within a message, which `JSON.stringify` does not write. */
  private inner(at: number): number {
    if (this.bytes[at]! > SPACE) return at;
    this.canonical = false;
    return this.space(at);
  }

  protected space(at: number): number {
    while (WHITE_SPACE[this.bytes[at]!] === 1) at++;
    return at;
  }
}
