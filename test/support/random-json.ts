import { Random } from './random.js';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const STRINGS = ['', 'a', 'é', '😀', '"', '\\', '\n', '\u0001', '\ud800', '/', '\u2028', '\x7f', 'x'.repeat(40)];
/** None with a backslash: Node 24 may parse another escaped key as one that it has seen (`"\\n"` as `"\\\\"`). */
const KEYS = STRINGS.filter((text) => text !== '\\').concat([
  'userId',
  'event',
  'properties',
  'context',
  '1',
  '01',
  '-1',
  'name',
  '__proto__',
  'batch',
]);
const NUMBERS = [0, -0, 1, -1, 1.5, 0.1, 1e-7, 1e-6, 0.0001, 1e21, 123456789012345, 1234567890123456, 19.99, 0.1 + 0.2];
/** What makes of JSON a text that JSON.stringify would not write, or no JSON at all. */
const INSERTS = [
  ' ',
  '\n',
  '0',
  '.0',
  'e1',
  'E+2',
  '\\u0041',
  '\\/',
  '-',
  '"a":1,',
  '"a":1,"a":2,',
  ',',
  '{',
  '}',
  '"',
];

/** Random JSON, the same for each seed. */
export class RandomJson extends Random {
  below(limit: number): number {
    return this.integer(0, limit - 1);
  }

  json(depth = 0): Json {
    const kind = depth > 4 ? this.below(3) : this.below(6);
    if (kind === 0) return this.pick(STRINGS);
    if (kind === 1) return this.pick(NUMBERS);
    if (kind === 2) return this.pick([true, false, null]);
    if (kind === 3) return Array.from({ length: this.below(4) }, () => this.json(depth + 1));
    return this.object(depth + 1);
  }

  object(depth = 0): Record<string, Json> {
    const entries = Array.from({ length: this.below(6) }, () => [this.pick(KEYS), this.json(depth)] as const);
    return Object.fromEntries(entries);
  }

  /** A text with something put into it at random. */
  spoil(text: string): string {
    const place = this.below(text.length);
    return text.slice(0, place) + this.pick(INSERTS) + text.slice(place + this.below(2));
  }
}
