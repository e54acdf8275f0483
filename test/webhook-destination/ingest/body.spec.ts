import { gzipSync } from 'node:zlib';

import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { sendRaw } from '../../support/raw-http.js';
import { startRelayApp } from '../../support/relay.app.js';

const MAX_BYTES = 524_288 + 4_096;

const message = { writeKey: 'wk_shop', userId: 'u1', event: 'Order Completed' };

describe.each(platforms)('A body on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const start = () => startRelayApp(afterwards, createAdapter());

  async function send(headers: Record<string, string>, body: string | Uint8Array) {
    const { host } = await start();
    const answer = await fetch(`${host}/v1/track`, { method: 'POST', headers, body });
    return { status: answer.status, ...((await answer.json()) as { code?: string; field?: string; message?: string }) };
  }

  const head = (length: number) =>
    `POST /v1/track HTTP/1.1\r\nHost: relay\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

  it('may say application/json with a charset, text/plain or nothing of its type', async () => {
    for (const type of ['application/json; charset=utf-8', 'text/plain;charset=UTF-8', 'application/octet-stream']) {
      expect(await send({ 'Content-Type': type }, JSON.stringify(message))).toMatchObject({ success: true });
    }
  });

  it('may begin with a byte order mark', async () => {
    expect(await send({}, `\ufeff${JSON.stringify(message)}`)).toEqual({ status: 200, success: true });
  });

  it('may be gzip that comes in chunks', async () => {
    const { host } = await start();
    const chunk = gzipSync(JSON.stringify(message)).toString('latin1');
    const lines = ['POST /v1/track HTTP/1.1', 'Host: relay', 'Content-Encoding: gzip', 'Transfer-Encoding: chunked'];
    const head = [...lines, 'Connection: close', '', ''].join('\r\n');
    const half = chunk.length >> 1;
    const chunks = [chunk.slice(0, half), chunk.slice(half), ''].map((c) => `${c.length.toString(16)}\r\n${c}\r\n`);
    expect((await sendRaw(host, head, ...chunks)).text).toContain('200 OK');
  });

  it.each<[string, Record<string, string>, string | Uint8Array]>([
    [
      'that a proxy has inflated and left with its gzip header',
      { 'Content-Encoding': 'gzip' },
      JSON.stringify(message),
    ],
    ['of gzip without its header', {}, gzipSync(JSON.stringify(message))],
  ])('%s is read as what it is', async (_case, headers, body) => {
    expect(await send(headers, body)).toEqual({ status: 200, success: true });
  });

  it('that a proxy has inflated is limited like any other', async () => {
    const body = JSON.stringify(message).padEnd(MAX_BYTES + 1);
    expect(await send({ 'Content-Encoding': 'gzip' }, body)).toMatchObject({ status: 413, code: 'body_too_large' });
  });

  it.each<[string, Record<string, string>, string | Uint8Array, number, string, field?: string]>([
    ['in an unknown encoding', { 'Content-Encoding': 'br' }, 'x', 400, 'encoding_unknown', 'Content-Encoding'],
    [
      'whose gzip is cut off',
      { 'Content-Encoding': 'gzip' },
      gzipSync('{"a":1}').subarray(0, 15),
      400,
      'body_not_gzip',
    ],
    [
      'that inflates too far',
      { 'Content-Encoding': 'gzip' },
      gzipSync(Buffer.alloc(50_000_000)),
      413,
      'body_too_large',
    ],
    ['that is not UTF-8', {}, Buffer.from([0x22, 0xff, 0xfe, 0x22]), 400, 'body_not_utf8'],
    ['that is not JSON', {}, 'event=Order', 400, 'body_not_json'],
    ['that is empty', {}, '', 400, 'body_not_json'],
  ])('%s is refused', async (_case, headers, body, status, code, field = 'body') => {
    expect(await send(headers, body)).toMatchObject({ status, code, field, message: expect.any(String) });
  });

  it('of gzip is counted as it comes as well', async () => {
    const { host } = await start();
    const head = [
      'POST /v1/track HTTP/1.1',
      'Host: relay',
      'Content-Encoding: gzip',
      'Transfer-Encoding: chunked',
      '',
      '',
    ];
    const empty = Buffer.concat(Array<Buffer>(1_000).fill(gzipSync(''))).toString('latin1');
    const chunk = `${empty.length.toString(16)}\r\n${empty}\r\n`;
    const { text } = await sendRaw(host, head.join('\r\n'), ...Array<string>(30).fill(chunk));
    expect(text).toContain('"code":"body_too_large"');
  });

  it('of 528,384 bytes may be gzip that does not compress', async () => {
    const body = JSON.stringify(message).padEnd(MAX_BYTES);
    expect(await send({ 'Content-Encoding': 'gzip' }, gzipSync(body, { level: 0 }))).toMatchObject({ status: 200 });
  });

  it('that is announced as too large is refused before it is sent', async () => {
    const { host } = await start();
    const { text, after } = await sendRaw(host, head(MAX_BYTES + 1));
    expect(text).toContain('413 Payload Too Large');
    expect(after).toBeLessThan(1_000);
  });

  it('with an unknown key in the header is refused before it is sent', async () => {
    const { host, relay } = await start();
    const { text } = await sendRaw(host, head(1_000).replace('\r\n\r\n', '\r\nAuthorization: Bearer wk_other\r\n\r\n'));
    expect(text).toContain('401 Unauthorized');
    expect(await relay.deliveries()).toEqual([]);
  });
});

describe('A body that the host has parsed before', () => {
  const afterwards = useCleanUps();

  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const track = (properties: string) =>
    `{"writeKey":"wk_shop","type":"track","userId":"u1","event":"Order Completed","properties":${properties}}`;
  const batchOf = (text: string) => `{"writeKey":"wk_shop","batch":[${text}]}`;
  const text = (length: number) => JSON.stringify({ text: 'x'.repeat(length) });

  it.each<[string, string, string, number, object]>([
    [
      'a message of 90 KB',
      'track',
      track(text(90_000)),
      400,
      { code: 'message_too_large', field: 'message', message: expect.any(String) },
    ],
    [
      'a batch with a message of 90 KB',
      'batch',
      batchOf(track(text(90_000))),
      200,
      { success: true, rejected: [expect.objectContaining({ index: 0, code: 'message_too_large' })] },
    ],
    [
      'more than 516 KB',
      'batch',
      batchOf(Array.from({ length: 20 }, () => track(text(30_000))).join()),
      413,
      { code: 'body_too_large', field: 'body', message: expect.any(String) },
    ],
    [
      'a message that is nested too deep to be measured',
      'track',
      track(nested(50_000)),
      400,
      { code: 'message_too_deep', field: 'message', message: expect.any(String) },
    ],
    ['a message of 100 levels', 'batch', batchOf(track(nested(99))), 200, { success: true }],
  ])('is judged by what it inflated to: %s', async (_case, route, body, status, expected) => {
    const host = express();
    host.use(express.json({ limit: '1mb' }));
    const app = await startRelayApp(afterwards, new ExpressAdapter(host), {
      bodyParser: false,
      prepare: (nest) => nest.setGlobalPrefix('api'),
    });
    const answer = await fetch(`${app.host}/api/v1/${route}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      body: gzipSync(body),
    });
    expect([answer.status, await answer.json()]).toEqual([status, expected]);
  });
});
