import { expect, it } from 'vitest';

import { takeTrace } from '../../../lib/webhook-destination/ingest/accepted-message.js';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const tracestate = 'vendor=1';
const toLatin1 = (value: object) => Buffer.from(JSON.stringify(value)).toString('latin1');

it.each<[string, object]>([
  ['alone', { traceparent }],
  ['first', { traceparent, tracestate, a: 1 }],
  ['last', { a: { b: [1] }, tracestate, traceparent }],
  ['apart', { traceparent, 'a"}': '{,"', tracestate, b: null }],
  ['beside other scripts', { a: '一 П Ģ', traceparent, b: '上' }],
  ['beside nested ones', { a: { traceparent: 'other' }, traceparent, tracestate, b: [{ tracestate }] }],
])('takes the trace out of a context in which it is %s', (_place, context) => {
  const isOther = ([name]: [string, unknown]) => name !== 'traceparent' && name !== 'tracestate';
  expect(takeTrace(toLatin1(context))).toEqual({
    context: toLatin1(Object.fromEntries(Object.entries(context).filter(isOther))),
    trace: 'tracestate' in context ? `${traceparent} ${tracestate}` : traceparent,
  });
});

it.each<[string, object]>([
  ['a traceparent that is not valid', { traceparent: 'mine', tracestate, a: 1 }],
  ['one of a version that does not exist', { traceparent: `ff${traceparent.slice(2)}`, a: 1 }],
  ['one that is too long for its version', { traceparent: `${traceparent}-more`, a: 1 }],
  ['one whose ids are zero', { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, a: 1 }],
  ['one that is no text', { traceparent: { of: [traceparent] }, a: 1 }],
  ['a tracestate alone', { tracestate, a: 1 }],
])('takes %s out of a context, without a trace', (_fault, context) => {
  expect(takeTrace(toLatin1(context))).toEqual({ context: '{"a":1}', trace: undefined });
});

it.each(['-more', ''])('takes a traceparent of a later version as one of version 00', (more) => {
  const later = `cc${traceparent.slice(2)}${more}`;
  expect(takeTrace(toLatin1({ traceparent: later }))).toEqual({ context: '{}', trace: traceparent });
});

it.each([undefined, '{"a":1}', '{"a":"traceparent"}', '[{"traceparent":"mine"}]'])(
  'leaves the context %s as it is',
  (json) => {
    expect(takeTrace(json)).toBeUndefined();
  },
);

it('leaves the members of others as they are', () => {
  const json = toLatin1({ a: { traceparent, tracestate } });
  expect(takeTrace(json)).toEqual({ context: json, trace: undefined });
});
