import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createConnection, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

import { beforeEach, describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { FuzzedRelay } from '../../support/fuzzed.relay.js';
import { sendRaw } from '../../support/raw-http.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const MAX_GROWTH = 24 * 1024 * 1024;

const json = JSON.stringify({ writeKey: 'wk_shop', userId: 'u1', event: 'Order Completed' });

const head = (path: string, ...headers: string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: relay', ...headers, '', ''].join('\r\n');

const request = (path: string, body: string, ...headers: string[]) =>
  head(path, `Content-Length: ${body.length}`, ...headers) + body;

/** A body, each byte in a chunk of its own. */
function chunkByChunk(body: Buffer): Buffer {
  const chunks = Buffer.alloc(body.length * 6 + 5, '1\r\n?\r\n');
  for (let index = 0; index < body.length; index++) chunks[index * 6 + 3] = body[index]!;
  chunks.write('0\r\n\r\n', body.length * 6);
  return chunks;
}

describe.each(['Express', 'Fastify'])('With a heap of 192 MB on %s', (platform) => {
  const afterwards = useCleanUps();
  let relay: FuzzedRelay;
  let port: number;

  beforeEach(async () => {
    const sink = createServer((incoming, response) => incoming.resume().once('end', () => response.end()));
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
    const folder = await temporaryFolder();
    const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
    relay = await FuzzedRelay.start({ platform, database: folder.path('relay.db'), url }, '--max-old-space-size=192');
    afterwards(folder.remove);
    afterwards(() => sink.close());
    afterwards(() => sink.closeAllConnections());
    afterwards(() => relay.stop());
    port = await relay.ask('port');
    await expectAnswer();
  });

  function connect(): Socket {
    const socket = createConnection(port, '127.0.0.1');
    socket.on('error', () => undefined); // the relay may close it
    afterwards(() => socket.destroy());
    return socket;
  }

  async function expectAnswer(): Promise<void> {
    const { text } = await sendRaw(`http://127.0.0.1:${port}`, request('/v1/track', json, 'Connection: close'));
    expect(text).toContain('{"success":true}');
  }

  async function expectGoodHealth(heapBefore: number): Promise<void> {
    await expectAnswer();
    expect((await relay.ask('heap')) - heapBefore).toBeLessThan(MAX_GROWTH);
    expect(relay.isRunning).toBe(true);
  }

  const padded = `${' '.repeat(500_000)}{}`;

  it.each<[string, string[], Buffer]>([
    ['a byte a chunk', [], Buffer.from(padded)],
    ['a byte of gzip a chunk', ['Content-Encoding: gzip'], gzipSync(padded, { level: 0 })],
  ])('bodies that come %s take no more memory than others', async (_what, headers, body) => {
    const before = await relay.ask('heap');
    const bytes = chunkByChunk(body);
    const answers = Array.from({ length: 4 }, async () => {
      const socket = connect();
      socket.write(head('/v1/m', 'Transfer-Encoding: chunked', 'Connection: close', ...headers));
      socket.write(bytes);
      const [answer] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as unknown[];
      return String(answer).split('\r\n', 1)[0];
    });
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
    await expectGoodHealth(before);
  });

  it.each<[string, string]>([
    // Not the smallest: Node parses the 64 KB that it has read of each connection before any of them can end.
    ['messages', request('/v1/track', json + ' '.repeat(400)).repeat(1_300)],
    ['what is refused', request('/v1/batch', `{"writeKey":"wk_shop","batch":[${'0,'.repeat(2_000)}0]}`).repeat(30)],
  ])('200 connections that send %s and never read take little', async (_what, requests) => {
    const before = await relay.ask('heap');
    const sockets = Array.from({ length: 200 }, () => connect().pause());
    await Promise.all(
      sockets.map(
        (socket) =>
          new Promise<void>((resolve) => {
            socket.once('close', () => resolve());
            socket.write(requests, () => resolve());
          }),
      ),
    );
    await expectGoodHealth(before);
  });
});
