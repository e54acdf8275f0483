import { execFile } from 'node:child_process';
import { createConnection } from 'node:net';
import { promisify } from 'node:util';

import type { INestApplication } from '@nestjs/common';
import { WebhookDestinationModule, memoryQueue } from 'nestjs-analytics-relay';
import { Agent, fetch as fetchBy } from 'undici';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { sendRaw } from '../../support/raw-http.js';
import { startRelayApp } from '../../support/relay.app.js';
import { waitFor } from '../../support/wait-for.js';

const json = JSON.stringify({ userId: 'u1', event: 'Order Completed', writeKey: 'wk_shop' });

const request = (target: string, ...headers: string[]) =>
  [`POST ${target} HTTP/1.1`, 'Host: relay', `Content-Length: ${json.length}`, ...headers, '', json].join('\r\n');

describe.each(platforms)('The endpoint on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('takes a target with scheme and host as it takes the path alone', async () => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter(), {
      prepare: (app: INestApplication) => app.setGlobalPrefix('api'),
    });
    for (const target of ['http://relay/v1/track', 'HTTPS://relay:8443/v1/t?from=proxy']) {
      const { text } = await sendRaw(host, request(target, 'Connection: close'));
      expect(text).toMatch(/^HTTP\/1.1 200 .*{"success":true}/s);
    }
    await receiver.received(2);
  });

  it('keeps the connection where it refuses a key before it reads the little that came with it', async () => {
    const { host } = await startRelayApp(afterwards, createAdapter());
    const agent = new Agent({ connections: 1 });
    afterwards(() => agent.destroy());
    const answer = await fetchBy(`${host}/v1/track`, {
      method: 'POST',
      headers: { Authorization: 'Bearer wk_other' },
      body: json,
      dispatcher: agent,
    });
    expect([answer.status, answer.headers.get('connection')]).toEqual([401, 'keep-alive']);
  });

  it('answers what follows a request that it refuses', async () => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter());
    const refused = request('/v1/track', 'Authorization: Bearer wk_other');
    const { text } = await sendRaw(host, refused + request('/v1/track', 'Connection: close'));
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
    await receiver.received(1);
  });

  it('answers 30 requests that come at once, in their order', async () => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter());
    const refused = request('/v1/track', 'Authorization: Bearer wk_other');
    const requests = Array.from({ length: 30 }, (_, i) => (i % 10 === 9 ? refused : request('/v1/track')));
    const { text } = await sendRaw(host, requests.join('') + request('/v1/m', 'Connection: close'));
    const expected = [...requests.map((sent) => (sent === refused ? '401' : '200')), '200'];
    expect(text.match(/(?<=HTTP\/1.1 )\d+/g)).toEqual(expected);
    await receiver.received(27);
  });

  it.each([
    ['small requests', request('/v1/track').repeat(200)],
    ['preflights', `OPTIONS /v1/track HTTP/1.1\r\nHost: relay\r\n\r\n`.repeat(200)],
    [
      'large bodies',
      `POST /v1/track HTTP/1.1\r\nHost: relay\r\nContent-Length: 500000\r\n\r\n${' '.repeat(500_000)}`.repeat(3),
    ],
  ])('closes a connection on which too much waits for its turn: %s', async (_what, requests) => {
    const queue = memoryQueue()();
    const { host } = await startRelayApp(afterwards, createAdapter(), {
      options: { queue: () => queue, ingest: { cors: true } },
    });
    const added = vi.spyOn(queue, 'add').mockReturnValue(new Promise(() => undefined));
    const { port } = new URL(host);
    const socket = createConnection(Number(port), '127.0.0.1');
    socket.on('error', () => undefined).resume();
    // The first is never answered, and so none behind it.
    socket.write(request('/v1/track') + requests);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(added.mock.calls.length).toBeLessThan(50);
  });

  it('ends a connection with the answer that it gives while the application closes', async () => {
    const queue = memoryQueue()();
    const { app, host } = await startRelayApp(afterwards, createAdapter(), { options: { queue: () => queue } });
    const add = queue.add.bind(queue);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    vi.spyOn(queue, 'add').mockImplementation((deliveries) => held.then(() => add(deliveries)));
    const answer = post(`${host}/v1/track`, json);
    await waitFor(() => vi.mocked(queue.add).mock.calls.length === 1);
    const closed = app.close();
    await new Promise((resolve) => setImmediate(resolve)); // the hooks that come before the server closes have run
    release();
    expect([(await answer).status, (await answer).headers.get('connection')]).toEqual([200, 'close']);
    await closed;
  });

  it('is not to be had twice at the same prefix', async () => {
    const source = { name: 'app', writeKey: 'wk_app' };
    const another = WebhookDestinationModule.forRoot({ sources: [source], destinations: [], queue: memoryQueue() });
    await expect(startRelayApp(afterwards, createAdapter(), { metadata: { imports: [another] } })).rejects.toThrow(
      "ingest.prefix must differ from that of every other module of the application; 'v1' is in use",
    );
  });
});

describe('The endpoint on Fastify with HTTP/2', () => {
  it('answers before it has read a body, without a header that HTTP/2 forbids', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['test/apps/http2.app.mjs']);
    expect([stdout, stderr]).toEqual(['413', '']); // where Node's warnings go
  });
});
