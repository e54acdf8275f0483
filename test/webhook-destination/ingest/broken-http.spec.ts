import { Controller, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { listen, platforms } from '../../support/platforms.js';
import { sendRaw } from '../../support/raw-http.js';
import { startRelayApp } from '../../support/relay.app.js';

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

describe.each(platforms)('What is not valid HTTP, on $platform,', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const startRelay = () =>
    startRelayApp(afterwards, createAdapter(), { metadata: { controllers: [CommentsController] } });

  it('is refused by Node, and not queued', async () => {
    const { host, relay } = await startRelay();
    for (const parts of [
      [withLength('/v1/track', -1), json],
      [head('/v1/track', 'Transfer-Encoding: chunked', 'Content-Length: 2')],
      [chunked('/v1/batch'), 'xyz\r\n'],
      [head('/v1/track', `Cookie: ${'x'.repeat(20_000)}`)],
      [head('/v1/track', 'Expect: tea', 'Connection: close', `Content-Length: ${json.length}`), json],
    ]) {
      expect((await sendRaw(host, ...parts)).text).toMatch(/^HTTP\/1.1 4/);
    }
    expect(await relay.stats()).toEqual([]);
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
});
