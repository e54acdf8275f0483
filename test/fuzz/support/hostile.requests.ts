import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { goodMessage, hostileObject, hostileValue, nested, withHostileFields } from './hostile.values.js';
import type { Random } from '../../support/random.js';
import type { RawRequest } from './raw.connection.js';

/** A request that no SDK should send, and how it must be answered. */
export interface HostileRequest extends RawRequest {
  kind: string;
  /** The only answer that is right; else any is that is success or names field and rule. */
  expected?: { status: number; code?: string };
}

type Kind = [name: string, weight: number, make: (random: Random) => Omit<HostileRequest, 'kind'>];

const BATCH_ROUTES = ['batch', 'import', 'b'];
const ROUTES = [
  ...BATCH_ROUTES,
  ...['identify', 'track', 'page', 'screen', 'group', 'alias', 'i', 't', 'p', 's', 'g', 'a', 'm'],
];
const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'text/plain;charset=UTF-8',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  '*/*',
  ';;;',
  'json',
  '',
  undefined,
];
const KNOWN_KEY = `Basic ${Buffer.from('wk_shop:').toString('base64')}`;

interface PostOptions {
  routes?: readonly string[];
  headers?: Record<string, string | undefined>;
}

/** A POST whose head is in order, where `headers` does not spoil it. */
function post(random: Random, body: string | Buffer, { routes = BATCH_ROUTES, headers }: PostOptions = {}): RawRequest {
  const bytes = Buffer.from(body as string);
  const lines = Object.entries({
    Host: 'relay',
    Authorization: KNOWN_KEY,
    'Content-Type': random.pick(CONTENT_TYPES),
    'Content-Length': String(bytes.length),
    ...headers,
  });
  const head = lines.flatMap(([name, value]) => (value === undefined ? [] : `${name}: ${value}\r\n`)).join('');
  return { parts: [Buffer.from(`POST /v1/${random.pick(routes)} HTTP/1.1\r\n${head}\r\n`, 'latin1'), bytes] };
}

const gzipped = { 'Content-Encoding': 'gzip' };
const chunked = { 'Transfer-Encoding': 'chunked', 'Content-Length': undefined };

const envelope = (random: Random, length = random.integer(1, 4)): string =>
  JSON.stringify({ batch: Array.from({ length }, () => goodMessage(random)) });

/** Cuts bytes into pieces of random size. */
function pieces(random: Random, bytes: Buffer, most: number): Buffer[] {
  const cuts = Array.from({ length: most - 1 }, () => random.integer(0, bytes.length)).sort((a, b) => a - b);
  return [...cuts, bytes.length].map((end, i) => bytes.subarray(cuts[i - 1] ?? 0, end));
}

const chunk = (bytes: Buffer, extension = ''): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}${extension}\r\n`), bytes, Buffer.from('\r\n')]);

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Made once: what a few KB inflate to. */
const BOMBS = [
  gzipSync(Buffer.alloc(5_000_000)),
  gzipSync(Buffer.alloc(40_000_000, ' ')),
  gzipSync(`{"batch":[${'{},'.repeat(1_000_000)}{}]}`),
  gzipSync(`{"batch":${nested({ chance: () => true } as unknown as Random, 1_000_000)}}`),
];

const TOO_LARGE = { status: 413, code: 'body_too_large' };

const KINDS: Kind[] = [
  [
    'random bytes',
    8,
    (r) => ({ ...post(r, r.bytes(r.integer(0, 2_000)), { routes: ROUTES }), expected: { status: 400 } }),
  ],
  [
    'JSON that is cut off',
    8,
    (r) => {
      const json = envelope(r);
      return {
        ...post(r, json.slice(0, r.integer(0, json.length - 1))),
        expected: { status: 400, code: 'body_not_json' },
      };
    },
  ],
  [
    'JSON with changed bytes',
    10,
    (r) => {
      const bytes = Buffer.from(envelope(r));
      for (let i = r.integer(1, 5); i > 0; i--) bytes[r.integer(0, bytes.length - 1)] = r.integer(0, 255);
      return post(r, bytes);
    },
  ],
  [
    'messages with hostile fields',
    16,
    (r) =>
      post(
        r,
        JSON.stringify({ batch: Array.from({ length: r.integer(1, 5) }, () => withHostileFields(r, goodMessage(r))) }),
      ),
  ],
  [
    'one message with hostile fields',
    12,
    (r) => post(r, JSON.stringify(withHostileFields(r, goodMessage(r))), { routes: ROUTES }),
  ],
  [
    'an envelope with hostile fields',
    6,
    (r) => post(r, JSON.stringify(withHostileFields(r, JSON.parse(envelope(r)) as Record<string, unknown>))),
  ],
  ['any JSON', 6, (r) => post(r, JSON.stringify(hostileValue(r)), { routes: ROUTES })],
  [
    'deep nesting',
    4,
    (r) => {
      const deep = nested(r, r.integer(101, 80_000));
      const field = r.pick(['properties', 'traits', 'context', 'integrations', 'userId', 'extra']);
      const message = `{"type":"track","userId":"u1","event":"e","${field}":${deep}}`;
      return r.pick([
        () => ({
          ...post(r, message, { routes: ['track', 't'] }),
          expected: { status: 400, code: 'message_too_deep' },
        }),
        () => post(r, `{"batch":[${message}]}`),
        () => post(r, `{"batch":[{"type":"track","userId":"u1","event":"e"}],"${field}":${deep}}`),
        () => post(r, `{"batch":${deep}}`),
        () => post(r, deep, { routes: ROUTES }),
      ])();
    },
  ],
  [
    'a body that is too large',
    2,
    (r) => {
      const body = Buffer.from(`{"batch":[${JSON.stringify('x'.repeat(r.integer(528_384, 1_500_000)))}]}`);
      if (r.chance(0.5)) return { ...post(r, body), expected: TOO_LARGE };
      const { parts } = post(r, body, { headers: chunked });
      return {
        parts: [
          parts[0]!,
          ...pieces(r, body, 20)
            .filter(({ length }) => length > 0)
            .map((piece) => chunk(piece)),
          LAST_CHUNK,
        ],
        expected: TOO_LARGE,
      };
    },
  ],
  ['a gzip bomb', 2, (r) => ({ ...post(r, r.pick(BOMBS), { headers: gzipped }), expected: TOO_LARGE })],
  [
    'gzip that is cut off',
    4,
    (r) => {
      const bytes = gzipSync(envelope(r));
      const cut = bytes.subarray(0, r.integer(2, bytes.length - 1)); // two bytes say that it is gzip
      return { ...post(r, cut, { headers: gzipped }), expected: { status: 400, code: 'body_not_gzip' } };
    },
  ],
  [
    'gzip with changed bytes',
    4,
    (r) => {
      const bytes = gzipSync(envelope(r));
      bytes[r.integer(0, bytes.length - 1)]! ^= 1 << r.integer(0, 7);
      return post(r, bytes, { headers: gzipped });
    },
  ],
  [
    'gzip with something behind it',
    2,
    (r) => {
      const behind = r.pick([
        r.bytes(r.integer(1, 1_000)),
        Buffer.alloc(100_000),
        gzipSync(envelope(r)),
        r.pick(BOMBS),
      ]);
      return post(r, Buffer.concat([gzipSync(envelope(r)), behind]), { headers: gzipped });
    },
  ],
  [
    'another encoding than it says',
    4,
    (r) => {
      const json = envelope(r);
      const body = r.pick([json, deflateSync(json), brotliCompressSync(json), r.bytes(50)]);
      return { ...post(r, body, { headers: gzipped }), expected: { status: body === json ? 200 : 400 } };
    },
  ],
  [
    'an unknown encoding',
    4,
    (r) => {
      const encoding = r.pick([
        'br',
        'deflate',
        'zstd',
        'compress',
        'gzip, gzip',
        'identity, gzip',
        'gzip;q=1',
        '*',
        'x',
      ]);
      return {
        ...post(r, gzipSync(envelope(r)), { headers: { 'Content-Encoding': encoding } }),
        expected: { status: 400, code: 'encoding_unknown' },
      };
    },
  ],
  [
    'invalid UTF-8',
    6,
    (r) => {
      const bad = r.pick([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]]);
      const [before, after] = r.pick([
        ['{"batch":[{"type":"track","userId":"u1","event":"', '"}]}'],
        ['{"batch":[{"type":"track","', '":1}]}'],
        ['', envelope(r)],
        [envelope(r), ''],
      ]);
      const body = Buffer.concat([Buffer.from(before), Buffer.from(bad), Buffer.from(after)]);
      return { ...post(r, body), expected: { status: 400, code: 'body_not_utf8' } };
    },
  ],
  [
    'another charset',
    2,
    (r) => ({
      ...post(r, Buffer.from(r.pick(['', '\ufeff']) + envelope(r), 'utf16le')),
      expected: { status: 400 },
    }),
  ],
  [
    'too many keys',
    1,
    (r) => {
      const keys = (count: number) => Array.from({ length: count }, (_, i) => `"${i.toString(36)}":1`).join();
      return r.pick([
        () => ({ ...post(r, `{${keys(100_000)}}`, { routes: ROUTES }), expected: TOO_LARGE }),
        () => ({
          ...post(r, `{"userId":"u1","event":"e","properties":{${keys(55_000)}}}`, { routes: ['t', 'track'] }),
          expected: { status: 400, code: 'message_too_large' },
        }),
        () => post(r, `{"batch":[{"type":"track","userId":"u1","event":"e"}],"context":{${keys(55_000)}}}`),
        () => post(r, `{"batch":[{}],${keys(55_000)}}`),
      ])();
    },
  ],
  [
    'too many messages',
    1,
    (r) => {
      const item = r.pick(['1', '{}', '[]', '""', '{"type":"track"}', '{"type":"track","userId":"u","event":"e"}']);
      const count = Math.min(r.integer(2_501, 200_000), Math.floor(500_000 / (item.length + 1)));
      return {
        ...post(r, `{"batch":[${Array.from({ length: count }, () => item).join()}]}`),
        expected: { status: 400, code: 'batch_too_long' },
      };
    },
  ],
  [
    'many bad messages',
    1,
    (r) => ({
      ...post(
        r,
        JSON.stringify({
          batch: Array.from({ length: r.integer(100, 2_500) }, () => r.pick([1, '', null, 'x', {}, []])),
        }),
      ),
      expected: { status: 200 },
    }),
  ],
  [
    'integrations of the batch for all of its messages',
    1,
    (r) => {
      const keys = Array.from({ length: r.integer(100, 4_000) }, (_, i) => `"${i.toString(36)}":0`).join();
      const item = '{"type":"track","userId":"u","event":"e","integrations":{"x":1}}';
      const batch = Array.from({ length: r.integer(100, 2_500) }, () => item).join();
      return { ...post(r, `{"integrations":{"All":false,${keys}},"batch":[${batch}]}`), expected: { status: 200 } };
    },
  ],
  [
    'fields of the batch that blow its messages up',
    2,
    (r) => {
      const field = r.pick(['context', 'integrations']);
      const shared = JSON.stringify({ text: 'x'.repeat(r.integer(1_000, 200_000)) });
      const batch = Array.from({ length: r.integer(1, 2_500) }, () => '{"type":"track"}').join();
      return post(r, `{"batch":[${batch}],"${field}":${shared}}`);
    },
  ],
  [
    'fields of the batch that are hostile',
    4,
    (r) =>
      post(
        r,
        JSON.stringify({
          ...(JSON.parse(envelope(r)) as object),
          context: hostileObject(r),
          integrations: hostileObject(r),
        }),
      ),
  ],
  [
    'a key that no source has',
    4,
    (r) => {
      const key = r.pick(['wk_other', '__proto__', 'constructor', 'wk_shop\0', 'WK_SHOP', 'x'.repeat(5_000), 'ü', '']);
      const Authorization = r.pick([
        `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
        `Bearer ${key.replace(/[^\x21-\x7e]/g, '_')}`,
        'Basic',
        'Basic ====',
        'Digest username="wk_shop"',
        undefined,
      ]);
      const body = JSON.stringify({ writeKey: r.pick([key, null, 1, { wk_shop: 1 }, ['wk_shop']]), batch: [] });
      return {
        ...post(r, body, { routes: ROUTES.filter((route) => route !== 'm'), headers: { Authorization } }),
        expected: { status: 401, code: 'write_key_unknown' },
      };
    },
  ],
  [
    'chunks of any size',
    3,
    (r) => {
      const body = Buffer.from(envelope(r));
      const chunks = pieces(r, body, r.integer(1, 20))
        .filter(({ length }) => length > 0)
        .map((piece) => chunk(piece, r.chance(0.1) ? ';a=b' : ''));
      return {
        parts: [...post(r, body, { headers: chunked }).parts.slice(0, 1), ...chunks, LAST_CHUNK],
        expected: { status: 200 },
      };
    },
  ],
  [
    'a body that comes slowly',
    1,
    (r) => {
      const [head, body] = post(r, envelope(r), { headers: { Expect: r.pick(['100-continue', undefined]) } }).parts;
      return { parts: [head!, ...pieces(r, body!, 5)], pause: r.integer(10, 200), expected: { status: 200 } };
    },
  ],
  [
    'a body that stops coming',
    0.5,
    (r) => {
      const headers = r.pick([{}, gzipped, chunked]);
      const body = headers === gzipped ? gzipSync(envelope(r)) : Buffer.from(envelope(r));
      const [head] = post(r, body, { headers }).parts;
      const begun = body.subarray(0, r.integer(0, body.length - 1));
      const parts = headers === chunked ? [head!, ...(begun.length > 0 ? [chunk(begun)] : [])] : [head!, begun];
      return { parts, then: 'vanish' };
    },
  ],
  [
    'a body that drips',
    0.2,
    (r) => {
      const body = Buffer.from(envelope(r));
      const bytes = Array.from(body.subarray(0, 20), (_, at) => body.subarray(at, at + 1));
      return { parts: [post(r, body).parts[0]!, ...bytes], pause: 100, then: 'vanish' };
    },
  ],
  [
    'a longer length than the body has',
    0.5,
    (r) => {
      const json = envelope(r);
      const length = json.length + r.pick([1, 10, 100_000]);
      return { ...post(r, json, { headers: { 'Content-Length': String(length) } }), then: 'vanish' };
    },
  ],
  [
    'a shorter length than the body has',
    3,
    (r) => {
      const json = envelope(r);
      const length = r.integer(0, json.length - 1);
      const [head] = post(r, json, { headers: { 'Content-Length': String(length) } }).parts;
      const [body, rest] = [json.slice(0, length), json.slice(length)].map((text) => Buffer.from(text));
      return r.chance(0.5)
        ? { parts: [head!, body!], afterwards: rest!, then: 'leave', expected: { status: 400, code: 'body_not_json' } }
        : { parts: [Buffer.concat([head!, body!, rest!])], then: 'leave' };
    },
  ],
  [
    'a length that is none',
    3,
    (r) => {
      const headers = r.pick<Record<string, string | undefined>>([
        { 'Content-Length': '-1' },
        { 'Content-Length': '1e3' },
        { 'Content-Length': '99999999999999999999' },
        { 'Content-Length': '' },
        { 'content-length': '7' },
        { 'Transfer-Encoding': 'chunked' },
        { 'Transfer-Encoding': 'gzip', 'Content-Length': undefined },
        { ...chunked, 'Transfer-Encoding': 'chunked, chunked' },
      ]);
      return { ...post(r, envelope(r), { headers }), then: 'leave' };
    },
  ],
  [
    'chunks that are none',
    3,
    (r) => {
      const [head] = post(r, '', { headers: chunked }).parts;
      const garbage = r.pick([
        'xyz\r\n',
        '-5\r\nabc\r\n',
        'fffffffffffffffff\r\n',
        '5\r\nabc\r\n0\r\n\r\n',
        '\r\n\r\n',
        '0\n\n',
      ]);
      return { parts: [head!, Buffer.from(garbage)], then: 'leave' };
    },
  ],
  [
    'a client that ends too early',
    3,
    (r) => {
      const [head, body] = post(r, envelope(r)).parts;
      const parts = [head!, body!.subarray(0, r.integer(0, body!.length - 1))];
      return { parts, then: 'half-close' };
    },
  ],
  [
    'a client that vanishes',
    3,
    (r) => {
      const [head, body] = post(r, r.chance(0.3) ? r.pick(BOMBS) : envelope(r)).parts;
      return { parts: [head!, body!.subarray(0, r.integer(0, body!.length))], then: 'vanish' };
    },
  ],
];

const TOTAL_WEIGHT = KINDS.reduce((total, [, weight]) => total + weight, 0);

/** A request of a random kind. */
export function hostileRequest(random: Random): HostileRequest {
  let left = random.next() * TOTAL_WEIGHT;
  const [kind, , make] = KINDS.find(([, weight]) => (left -= weight) < 0)!;
  return { kind, ...make(random) };
}
