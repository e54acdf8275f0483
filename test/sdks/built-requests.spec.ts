import { gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { startRelayApp } from '../support/relay.app.js';

interface SdkRequest {
  sdk: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array;
  expected: Record<string, unknown>;
}

const basic = `Basic ${Buffer.from('wk_shop:').toString('base64')}`;
const gzip = { 'Content-Encoding': 'gzip' };
const json = { 'Content-Type': 'application/json' };
const track = { type: 'track', event: 'Order Completed' };
const withTraits = { type: 'identify', userId: '42' };

/** Requests as the SDKs of other languages send them, each with one of the things that only it does. */
const requests: SdkRequest[] = [
  {
    sdk: 'Python: key in the body, blanks, microseconds, nulls, a number as id',
    path: '/v1/batch',
    headers: { ...json, ...gzip },
    body: gzipSync(
      '{"batch": [{"integrations": {}, "anonymousId": null, "messageId": "py-1", "timestamp": "2026-01-02T03:04:05.678901+00:00", ' +
        '"context": {"library": {"name": "analytics-python"}}, "userId": 42, "type": "track", "event": "Order Completed", ' +
        '"properties": {"total": 1.5}}], "writeKey": "wk_shop", "sentAt": "2026-01-02T03:04:06.000000+00:00"}',
    ),
    expected: { ...track, userId: '42', properties: { total: 1.5 }, timestamp: '2026-01-02T03:04:05.678Z' },
  },
  {
    sdk: 'Ruby: /v1/import, a local offset, a number as id',
    path: '/v1/import',
    headers: { ...json, Authorization: basic },
    body: '{"sentAt":"2026-01-02T04:04:05.000+01:00","batch":[{"type":"track","event":"Order Completed","userId":42,"timestamp":"2026-01-02T04:04:05.678+01:00","messageId":"rb-1"}]}',
    expected: { ...track, userId: '42', timestamp: '2026-01-02T03:04:05.678Z' },
  },
  {
    sdk: 'PHP: whole seconds, gzip with a trailing newline, a number as id',
    path: '/v1/batch',
    headers: { ...json, ...gzip, Authorization: basic },
    body: Buffer.concat([
      gzipSync(
        '{"batch":[{"userId":42,"traits":{"plan":"pro"},"type":"identify","timestamp":"2026-01-02T03:04:05+00:00"}]}',
      ),
      Buffer.from('\n'),
    ]),
    expected: { ...withTraits, traits: { plan: 'pro' }, timestamp: '2026-01-02T03:04:05.000Z' },
  },
  {
    sdk: 'Go: nanoseconds, an empty context',
    path: '/v1/batch',
    headers: { ...json, Authorization: basic },
    body: '{"messageId":"go-0","sentAt":"2026-01-02T03:04:06.123456789Z","batch":[{"type":"track","messageId":"go-1","userId":"42","event":"Order Completed","timestamp":"2026-01-02T03:04:05.678912345Z"}],"context":{}}',
    expected: { ...track, userId: '42', context: {}, timestamp: '2026-01-02T03:04:05.678Z' },
  },
  {
    sdk: 'Rust: no messageId, traits of null',
    path: '/v1/batch',
    headers: { ...json, Authorization: basic },
    body: '{"batch":[{"type":"identify","userId":"42","traits":null,"timestamp":"2026-01-02T03:04:05.678912345+00:00"}]}',
    expected: { ...withTraits, timestamp: '2026-01-02T03:04:05.678Z' },
  },
  {
    sdk: 'Kotlin: text/plain, gzip',
    path: '/v1/b',
    headers: { 'Content-Type': 'text/plain', ...gzip },
    body: gzipSync(
      '{"batch":[{"type":"track","event":"Order Completed","userId":"42","anonymousId":"","messageId":"kt-1"}],"sentAt":"2026-01-02T03:04:06.000Z","writeKey":"wk_shop"}',
    ),
    expected: { ...track, userId: '42' },
  },
  {
    sdk: 'Swift: line breaks, a trailing slash',
    path: '/v1/b/',
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: '{ "batch" : [\n{"type":"track","event":"Order Completed","userId":"42","messageId":"sw-1"}\n\n],"sentAt":"2026-01-02T03:04:06.000Z","writeKey":"wk_shop"}',
    expected: { ...track, userId: '42' },
  },
  {
    sdk: 'C#: no content type, gzip, an empty userId',
    path: '/v1/import',
    headers: { ...gzip, Authorization: basic },
    body: gzipSync(
      '{"batch":[{"type":"track","event":"Order Completed","userId":"","anonymousId":"a1","messageId":"cs-1"}]}',
    ),
    expected: { ...track, anonymousId: 'a1' },
  },
  {
    sdk: 'Java: a trailing slash, a sequence',
    path: '/v1/import/',
    headers: { ...json, ...gzip, Authorization: basic },
    body: gzipSync(
      '{"batch":[{"type":"track","event":"Order Completed","userId":"42","messageId":"ja-1","timestamp":"2026-01-02T03:04:05.678Z"}],"sentAt":"2026-01-02T03:04:06.000Z","context":null,"sequence":1}',
    ),
    expected: { ...track, userId: '42', timestamp: '2026-01-02T03:04:05.678Z' },
  },
  {
    sdk: '.NET: seven digits of a second, two slashes',
    path: '//v1/import',
    headers: { ...json, Authorization: basic },
    body: '{"batch":[{"type":"track","event":"Order Completed","userId":"42","messageId":"dn-1","timestamp":"2026-01-02T03:04:05.6789012+00:00"}]}',
    expected: { ...track, userId: '42', timestamp: '2026-01-02T03:04:05.678Z' },
  },
  {
    sdk: 'RudderStack: gzipped JSON labelled as a form',
    path: '/v1/batch',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...gzip, Authorization: basic },
    body: gzipSync('{"batch":[{"type":"track","event":"Order Completed","userId":"42","messageId":"rs-1"}]}'),
    expected: { ...track, userId: '42' },
  },
];

describe.each(platforms)('A request as an SDK sends it, on $platform,', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it.each(requests)('is delivered whole: $sdk', async ({ path, headers, body, expected }) => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter());
    const answer = await fetch(`${host}${path}`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
    const [webhook] = await receiver.received(1);
    const { context, ...others } = expected;
    expect(webhook!.body).toMatchObject(others);
    if (context !== undefined) expect(webhook!.body.context).toEqual(context);
  });
});
