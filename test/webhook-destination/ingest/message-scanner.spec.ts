import { describe, expect, it } from 'vitest';

import { toJsonText } from '../../../lib/webhook-destination/http/body.reader.js';
import { ParsedMessage } from '../../../lib/webhook-destination/ingest/parsed-message.js';
import { UNUSABLE } from '../../../lib/webhook-destination/ingest/scan/json-scanner.js';
import { MessageScanner } from '../../../lib/webhook-destination/ingest/scan/message-scanner.js';
import { SCANNED_FIELDS, ScannedMessage } from '../../../lib/webhook-destination/ingest/scan/scanned-message.js';
import { TEXT_FIELDS } from '../../../lib/webhook-destination/ingest/posted-message.interface.js';
import { type Json, RandomJson } from '../../support/random-json.js';

type Message = Record<string, Json>;

const scan = (text: string, most = 100) => {
  const scanner = new MessageScanner(toJsonText(Buffer.from(text)));
  try {
    return { envelope: scanner.envelope(most), messages: scanner.messages };
  } catch (error) {
    if (error !== UNUSABLE && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
};
const isScanned = (text: string): boolean => scan(`{"batch":[${text}]}`)?.messages[0] instanceof ScannedMessage;

function parse(text: string): { batch: Message[] } | undefined {
  try {
    return JSON.parse(text) as { batch: Message[] };
  } catch {
    return undefined;
  }
}

/** How the result of a scan differs from that of a parser. */
function faultOf(text: string): string | undefined {
  const scanned = scan(text);
  if (scanned === undefined) return undefined;
  const parsed = parse(text);
  if (parsed === undefined) return 'taken, and no JSON';
  const { batch, ...envelope } = parsed;
  if (JSON.stringify(scanned.envelope) !== JSON.stringify({ ...parsed, batch: [] })) return `another envelope`;
  if (scanned.messages.length !== batch.length) return `another number of messages, ${Object.keys(envelope).join()}`;
  for (const [index, message] of scanned.messages.entries()) {
    const expected = batch[index]!;
    if (!(message instanceof ScannedMessage)) {
      // With text in place of a number in an id.
      if (JSON.stringify(message.value) !== JSON.stringify(new ParsedMessage(expected).value))
        return 'another parsed message';
      continue;
    }
    for (const field of SCANNED_FIELDS) {
      const value = Object.hasOwn(expected, field) ? expected[field] : undefined;
      const isPassedOn =
        typeof value === 'object' && value !== null && !Array.isArray(value) && field !== 'integrations';
      const kind = message.value[field];
      if (JSON.stringify(kind) !== (isPassedOn ? '{}' : JSON.stringify(value))) return `another ${field}`;
    }
    for (const field of TEXT_FIELDS) {
      const value = Object.hasOwn(expected, field) ? expected[field] : undefined;
      const isAbsent = value === undefined || value === null || value === '';
      const json = message.json(field);
      const decoded = json === undefined ? undefined : Buffer.from(json, 'latin1').toString();
      if (decoded !== (isAbsent ? undefined : JSON.stringify(value))) return `other JSON of ${field}`;
    }
  }
  return undefined;
}

describe('The scan of posted JSON', () => {
  it('agrees with a parser on texts of all kinds, and takes none that is not JSON', () => {
    const random = new RandomJson(11);
    let taken = 0;
    for (let round = 0; round < 8_000; round++) {
      const messages = Array.from({ length: random.below(4) }, () => {
        const fields = Array.from(
          { length: random.below(7) },
          () => [random.pick(SCANNED_FIELDS), random.json(2)] as const,
        );
        return { ...random.object(), ...Object.fromEntries(fields) };
      });
      let text = JSON.stringify({ sentAt: random.json(4), batch: messages, writeKey: 'k' });
      for (let times = round % 3; times > 0; times--) text = random.spoil(text);
      text = Buffer.from(text).toString();
      if (scan(text)) taken++;
      const fault = faultOf(text);
      if (fault !== undefined) throw new Error(`${fault}: ${text}`);
    }
    // Else it would have shown nothing.
    expect(taken).toBeGreaterThan(3_000);
    expect(taken).toBeLessThan(7_000);
  });

  it.each([
    '{}',
    '{"a":[],"b":{},"c":[1,-2,0.5,12.25,true,false,null,"x"]}',
    '{"properties":{"é":"\\"\\\\\\b\\f\\n\\r\\t","😀":[[{"a":0}]]}}',
    '{"properties":{"a\\\\":1,"\\\\":2,"\\n":3,"b\\"":{"\\\\\\"":4}}}',
  ])('does not parse %s', (text) => expect(isScanned(text)).toBe(true));

  it.each(['{ }', '{"a" :1}', '{"a":1.0}', '{"a":1e3}', '{"a":-0}', '{"a":"\\u0041"}', '{"a":"\\/"}', '{"a":1,"a":2}'])(
    'leaves %s to the parser, and takes the rest',
    (text) => {
      expect(isScanned(text)).toBe(false);
      const { messages } = scan(`{"batch":[{"b":1},${text}]}`)!;
      expect(messages[0]).toBeInstanceOf(ScannedMessage);
      expect(messages[1]!.value).toEqual(JSON.parse(text));
    },
  );

  it.each([
    '',
    '{',
    '[]',
    '{"batch":[{"a":1}',
    '{"batch":[{"a":1},]}',
    '{"batch":[{"a":1}]}x',
    '{"batch":[{"a":01}]}',
    '{"batch":[{"a":1.}]}',
    '{"batch":[{"a":-}]}',
    '{"batch":[{"a":tru}]}',
    '{"batch":[{"a":nulx}]}',
    '{"batch":[{"a":"\n"}]}',
    '{"batch":[{"a":"\\x"}]}',
    '{"batch":[{"a":"\\u00"}]}',
    '{"batch":[{"a":"x}]}',
    '{"batch":[{"a"}]}',
    '{"batch":[{a:1}]}',
    '{"batch":[{"a":1 "b":2}]}',
    '{"batch":[{"a":[1,]}]}',
    '{"batch":[{"a":[1}]}',
    '{"batch":[{}\u00a0]}',
    '{"batch":[{"a":1}],}',
    '{"batch":[{"a":1}],"b":}',
    '\ufeff{"batch":[]}',
  ])('does not take %j', (text) => {
    expect(parse(text)?.batch).toBeUndefined();
    expect(scan(text)).toBeUndefined();
  });

  it('leaves more messages than allowed, and deeper ones, to those who say so', () => {
    expect(scan('{"batch":[1,2,3]}', 3)!.messages.map(({ value }) => value)).toEqual([1, 2, 3]);
    expect(scan('{"batch":[1,2,3]}', 2)).toBeUndefined();
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    expect(isScanned(nested(100))).toBe(true);
    expect(scan(`{"batch":[${nested(101)}]}`)).toBeUndefined();
  });

  it.each([
    ['{"type":"track","userId":42}', false],
    ['{"type":"track","groupId":-1}', false],
    ['{"type":"track","userId":"42","anonymousId":null}', true],
    ['{"type":"track","userId":"u1","properties":{"userId":42}}', true],
  ])('leaves a message with a number in an id to the parser: %s', (text, scanned) => {
    expect(isScanned(text)).toBe(scanned);
  });
});
