import { createConnection } from 'node:net';
import { gzipSync } from 'node:zlib';

import { describe, expect, it } from '@jest/globals';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { startRelayApp } from '../support/relay.app.js';

const message = { writeKey: 'wk_shop', userId: 'u1', event: 'Order Completed' };

describe.each(platforms)('A body on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const start = () => startRelayApp(afterwards, createAdapter());

  async function send(headers: Record<string, string>, body: string | Uint8Array) {
    const { host } = await start();
    const answer = await fetch(`${host}/v1/track`, { method: 'POST', headers, body });
    return { status: answer.status, ...((await answer.json()) as { code?: string; message?: string }) };
  }

  /** Sends bytes as they are; resolves with what was answered until the server closed, and when the answer began. */
  function sendRaw(host: string, ...parts: string[]): Promise<{ text: string; after: number }> {
    const { port } = new URL(host);
    return new Promise((resolve, reject) => {
      const startedAt = Date.now();
      let text = '';
      let after = 0;
      const socket = createConnection(Number(port), '127.0.0.1', () => parts.forEach((part) => socket.write(part)));
      socket.on('data', (chunk) => {
        after ||= Date.now() - startedAt;
        text += chunk.toString();
      });
      socket.on('close', () => resolve({ text, after }));
      socket.on('error', reject);
    });
  }

  const head = (length: number) =>
    `POST /v1/track HTTP/1.1\r\nHost: relay\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

  it('may say application/json with a charset, text/plain or nothing of its type', async () => {
    for (const type of ['application/json; charset=utf-8', 'text/plain;charset=UTF-8', 'application/octet-stream']) {
      expect(await send({ 'Content-Type': type }, JSON.stringify(message))).toMatchObject({ success: true });
    }
  });

  it.each<[string, Record<string, string>, string | Uint8Array, number, string]>([
    ['in an unknown encoding', { 'Content-Encoding': 'br' }, 'x', 400, 'encoding_unknown'],
    ['that is not gzip as it says', { 'Content-Encoding': 'gzip' }, JSON.stringify(message), 400, 'body_not_gzip'],
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
  ])('%s is refused', async (_case, headers, body, status, code) => {
    expect(await send(headers, body)).toMatchObject({ status, code, message: expect.any(String) });
  });

  it('that stands still is given up within 2 s, with an answer that lets the client try again', async () => {
    const { host } = await start();
    const { text, after } = await sendRaw(host, head(1_000), '{"writeKey":"wk_shop",');
    expect(text).toContain('408 Request Timeout');
    expect(text).toContain('"code":"body_timeout"');
    expect(after).toBeLessThan(2_000);
  });

  it('that is announced as too large is refused before it is sent', async () => {
    const { host } = await start();
    const { text, after } = await sendRaw(host, head(512_001));
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
