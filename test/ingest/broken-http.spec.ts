import { describe, expect, it } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';

import { useCleanUps } from '../support/clean-ups.js';
import { listen, platforms } from '../support/platforms.js';
import { sendRaw } from '../support/raw-http.js';
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

/** Status and body of an answer after which the connection ends. */
function read({ text }: { text: string }): [string | undefined, unknown] {
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
    const [answered, refusal] = read(await sendRaw(host, ...parts));
    expect(answered).toBe(status);
    expect(refusal).toEqual({
      code: 'http_invalid',
      message: expect.stringMatching(/^the request must be valid HTTP: ./),
      field,
    });
    expect(await relay.stats()).toEqual([]);
  });

  it('is refused when it expects what HTTP does not know, as other routes refuse it', async () => {
    const { host } = await startRelay();
    const expecting = (path: string) => head(path, 'Expect: cake', 'Content-Length: 0', 'Connection: close');
    const [status, refusal] = read(await sendRaw(host, expecting('/v1/track')));
    expect([status, refusal]).toEqual([
      '417',
      { code: 'expectation_unknown', message: 'Expect must be 100-continue or absent', field: 'Expect' },
    ]);
    expect((await sendRaw(host, expecting('/comments'))).text).toMatch(/^HTTP\/1.1 417 .*\r\n\r\n(0\r\n\r\n)?$/s);
  });

  it('takes no answer from the request before it', async () => {
    const { host, receiver } = await startRelay();
    const [status, answer] = read(await sendRaw(host, `${withLength('/v1/track', json.length)}${json}, "more": 1}`));
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
      const answer = await sendRaw(host, ...parts);
      expect(answer.text).toMatch(/^HTTP\/1.1 4/);
      expect(answer.text).toBe((await sendRaw(bare, ...parts)).text);
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
    await sendRaw(host, withLength('/v1/track', -1));
    expect(heard).toEqual([]);
    await sendRaw(host, withLength('/other', -1));
    expect(heard).toEqual(['host']);
  });
});
