import { createConnection } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';

import { useCleanUps } from '../support/clean-ups.js';
import { listen, platforms } from '../support/platforms.js';
import { startRelayApp } from '../support/relay.app.js';

@Controller('comments')
class CommentsController {
  @Post()
  comment(): string {
    return 'thanks';
  }
}

const json = JSON.stringify({ writeKey: 'wk_shop', userId: 'u1', event: 'Order Completed' });

const head = (path: string, ...headers: string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: relay', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');

const chunked = (path: string) => head(path, 'Transfer-Encoding: chunked');

const withLength = (path: string, length: string | number) => head(path, `Content-Length: ${length}`);

/** Sends bytes as they are, and ends; resolves with what was answered until the server closed. */
function send(host: string, ...parts: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = createConnection({ port: Number(new URL(host).port), host: '127.0.0.1', allowHalfOpen: true });
    for (const part of parts) socket.write(part, 'latin1');
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', reject).on('end', () => socket.end());
    socket.on('close', () => resolve(text));
  });
}

/** Status and body of an answer after which the connection ends. */
function read(text: string): [string | undefined, unknown] {
  const [headers = '', body = ''] = text.split('\r\n\r\n', 2);
  expect(headers.toLowerCase()).toContain('connection: close');
  return [headers.split(' ', 2)[1], JSON.parse(body)];
}

describe.each(platforms)('What is not valid HTTP, on $platform,', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const startRelay = () =>
    startRelayApp(afterwards, createAdapter(), { metadata: { controllers: [CommentsController] } });

  it.each([
    ['a length that is none', '400', 'Content-Length', [withLength('/v1/track', -1), json]],
    ['two lengths', '400', 'Content-Length', [head('/v1/track?a=1', 'Content-Length: 2', 'Content-Length: 3'), json]],
    [
      'a length beside chunks',
      '400',
      'Content-Length',
      [head('/v1/b', 'Transfer-Encoding: chunked', 'Content-Length: 2')],
    ],
    ['chunks that are none', '400', 'body', [chunked('/v1/batch/'), 'xyz\r\n']],
    ['a chunk that is longer than it says', '400', 'body', [chunked('/v1/batch'), '5\r\n{"batch":[]}\r\n0\r\n\r\n']],
    ['headers that are too long', '431', 'headers', [head('/v1/track', `Cookie: ${'x'.repeat(20_000)}`)]],
  ])('is refused with its field and rule: %s', async (_what, status, field, parts) => {
    const { host, relay } = await startRelay();
    const [answered, refusal] = read(await send(host, ...parts));
    expect(answered).toBe(status);
    expect(refusal).toEqual({
      code: 'http_invalid',
      message: expect.stringMatching(/^the request must be valid HTTP: ./),
      field,
    });
    expect(await relay.stats()).toEqual([]);
  });

  it('takes no answer from the request before it', async () => {
    const { host, receiver } = await startRelay();
    const [status, answer] = read(await send(host, `${withLength('/v1/track', json.length)}${json}, "more": 1}`));
    expect([status, answer]).toEqual(['200', { success: true }]);
    await receiver.received(1);
  });

  it('gets from other routes what it gets without the relay', async () => {
    const testing = await Test.createTestingModule({ controllers: [CommentsController] }).compile();
    const plain = testing.createNestApplication(createAdapter(), { logger: false });
    afterwards(() => plain.close());
    const [bare, { host }] = [await listen(plain), await startRelay()];
    for (const parts of [
      [withLength('/comments', -1)],
      [chunked('/comments'), 'xyz\r\n'],
      [head('/comments', `Cookie: ${'x'.repeat(20_000)}`)],
      ['nonsense\r\n\r\n'],
    ]) {
      const answer = await send(host, ...parts);
      expect(answer).toMatch(/^HTTP\/1.1 4/);
      expect(answer).toBe(await send(bare, ...parts));
    }
  });

  it("goes to the host's own listener, where the request is not the relay's", async () => {
    const heard: string[] = [];
    const { host } = await startRelayApp(afterwards, createAdapter(), {
      prepare: (app) =>
        (app.getHttpServer() as import('node:http').Server).on('clientError', (_error, socket) => {
          heard.push('host');
          if (socket.writable) socket.end('HTTP/1.1 418 Teapot\r\nConnection: close\r\n\r\n');
        }),
    });
    await send(host, withLength('/v1/track', -1));
    expect(heard).toEqual([]);
    await send(host, withLength('/other', -1));
    expect(heard).toEqual(['host']);
  });
});
