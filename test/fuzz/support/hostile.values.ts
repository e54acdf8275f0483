import type { Random } from '../../support/random.js';

const STRINGS = [
  '',
  ' ',
  '\u0000',
  'a\r\nX-Injected: 1',
  '\ud800', // half of a pair
  'x\udc00\ud800y',
  '\ufeff',
  '\u202eabc',
  'ü'.repeat(99),
  '😀'.repeat(60),
  '__proto__',
  'constructor',
  "'; DROP TABLE delivery; --",
  '2026-02-30T25:61:00Z',
  '-271821-04-19T23:59:59.999Z',
  '9'.repeat(400),
];
const NUMBERS = [0, -0, 1, -1, 0.1, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 5e-324];
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'toJSON',
  'then',
  'length',
  '',
  'a',
];

/** The fields of messages and envelopes. */
const FIELDS = [
  'type',
  'messageId',
  'timestamp',
  'originalTimestamp',
  'sentAt',
  'userId',
  'anonymousId',
  'previousId',
  'groupId',
  'event',
  'name',
  'category',
  'properties',
  'traits',
  'context',
  'integrations',
  'writeKey',
  'batch',
];

export function hostileString(random: Random): string {
  return random.pick(STRINGS).repeat(random.chance(0.1) ? random.integer(2, 50) : 1);
}

/** Any JSON value, the strange ones more often than the plain. */
export function hostileValue(random: Random, depth = 3): unknown {
  switch (random.integer(0, depth > 0 ? 7 : 4)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.pick(NUMBERS);
    case 3:
    case 4:
      return hostileString(random);
    case 5:
      return Array.from({ length: random.integer(0, 4) }, () => hostileValue(random, depth - 1));
    default:
      return hostileObject(random, depth - 1);
  }
}

/** With keys that are own ones, whatever they are called. */
export function hostileObject(random: Random, depth = 3): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: random.integer(0, 5) }, () => [
      random.chance(0.8) ? random.pick(KEYS) : hostileString(random),
      hostileValue(random, depth),
    ]),
  );
}

/** A message that breaks no rule. */
export function goodMessage(random: Random): Record<string, unknown> {
  const user = random.chance(0.5) ? { userId: 'u1' } : { anonymousId: 'a1' };
  switch (random.pick(['identify', 'track', 'page', 'group', 'alias'])) {
    case 'identify':
      return { type: 'identify', ...user, traits: { plan: 'pro' } };
    case 'page':
      return { type: 'page', ...user, name: 'Home', properties: { url: 'https://shop.example/' } };
    case 'group':
      return { type: 'group', ...user, groupId: 'g1', traits: { name: 'Initech' } };
    case 'alias':
      return { type: 'alias', userId: 'u2', previousId: 'u1' };
    default:
      return { type: 'track', ...user, event: 'Order Completed', properties: { total: 42 } };
  }
}

/** A message, or an envelope, some of whose fields are not what they should be. */
export function withHostileFields(random: Random, fields: Record<string, unknown>): Record<string, unknown> {
  const hostile = Array.from({ length: random.integer(1, 4) }, (): [string, unknown] => [
    random.chance(0.8) ? random.pick(FIELDS) : random.pick(KEYS),
    hostileValue(random),
  ]);
  return Object.fromEntries([...Object.entries(fields), ...hostile]);
}

/** The JSON of an object or array that is nested so deep. */
export function nested(random: Random, levels: number): string {
  return random.chance(0.5)
    ? `${'['.repeat(levels)}${']'.repeat(levels)}`
    : `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}
