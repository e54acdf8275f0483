import { describe, expect, it, vi } from 'vitest';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { FetchHTTPClient, keepAliveHttpClient, type HTTPClient } from 'nestjs-analytics-relay/client';
import type { Received } from './support/collector.js';
import { collect, create, event, tracked } from './support/harness.js';
import { AnsweringThread, blockEventLoop } from '../support/answering.thread.js';
import { useCleanUps } from '../support/clean-ups.js';
import { waitFor } from '../support/wait-for.js';

const cleanUp = useCleanUps();

// Global fetch frees a connection a moment after the response, and opens another one meanwhile.
const clients: [string, () => HTTPClient, number][] = [
  ['global fetch', () => new FetchHTTPClient(), 2],
  ['keepAliveHttpClient()', () => keepAliveHttpClient(), 1],
];

/** An address on loopback where nothing listens. */
async function refusingUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

const messageOf = (error: unknown): string => (error as Error).message;

it.each([
  ['https://events.example', 'http://events.example/v1/batch'],
  ['http://events.example', 'https://events.example/v1/batch'],
  ['https://events.example', 'https://other.example/v1/batch'],
  ['https://events.example', 'https://events.example:8443/v1/batch'],
  ['https://events.example', 'ftp://events.example/'],
])('a redirect of %s to %s is not followed', async (host, location) => {
  const urls: string[] = [];
  const makeRequest: HTTPClient['makeRequest'] = ({ url }) => {
    urls.push(url);
    return Promise.resolve({ status: 308, statusText: '', headers: { location } });
  };
  const analytics = create({ host, httpClient: { makeRequest } });
  const done = tracked(analytics);
  await analytics.flush();
  expect(messageOf((await done).err)).toContain(
    `[308] a redirect to ${location.split('/', 3).join('/')}, another origin`,
  );
  expect(urls).toEqual([`${host}/v1/batch`]);
});

describe.each(clients)('delivery with %s', (_name, client, connectionsPerRequest) => {
  it('posts the batch with key, content type and product token, and calls back without an error', async () => {
    const collector = await collect();
    const analytics = create({ host: collector.url, writeKey: 'wk_1', httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    const { err, ctx } = await done;
    expect(err).toBeUndefined();
    expect(ctx.event.event).toBe('Ordered');
    const [request] = collector.requests as [Received];
    expect(request.method).toBe('POST');
    expect(request.path).toBe('/v1/batch');
    expect(request.headers['content-type']).toBe('application/json');
    expect(request.headers.authorization).toBe(`Basic ${Buffer.from('wk_1:').toString('base64')}`);
    expect(request.headers['user-agent']).toBe('nestjs-analytics-relay/1.0');
    expect(request.headers['x-retry-count']).toBeUndefined();
    expect(Object.keys(request.body)).toEqual(['batch', 'writeKey', 'sentAt']);
    expect(request.body.writeKey).toBe('wk_1');
    expect(new Date(request.body.sentAt).toISOString()).toBe(request.body.sentAt);
  });

  it('retries after 500, counting retries in X-Retry-Count, and delivers each message once', async () => {
    const collector = await collect(500, 200);
    const analytics = create({ host: collector.url, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect((await done).err).toBeUndefined();
    expect(collector.requests.map(({ headers }) => headers['x-retry-count'])).toEqual([undefined, '1']);
    const [first, second] = collector.requests as [Received, Received];
    expect(second.at - first.at).toBeGreaterThanOrEqual(490);
    expect(second.body.batch).toEqual(first.body.batch);
  });

  it('counts a redirect as delivered, does not follow it, and warns once', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const requests: unknown[] = [];
    const server = createHttpServer(({ method, url }, response) => {
      requests.push([method, url]);
      response.writeHead(302, { Location: '/elsewhere', Connection: 'close' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const analytics = create({ host, httpClient: client() });
    for (let i = 0; i < 2; i++) {
      const done = tracked(analytics);
      await analytics.flush();
      expect((await done).err).toBeUndefined();
    }
    expect(requests).toEqual(Array(2).fill(['POST', '/v1/batch']));
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]![0]).toContain(`${host.slice('http://'.length)} answered 302`);
    warn.mockRestore();
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([307, 308])('posts the batch again where a %i of the same origin sends it', async (status) => {
    const collector = await collect((response, { path }) =>
      path === '/v1/batch' ? response.writeHead(status, { Location: '/v2/batch' }).end() : response.end(),
    );
    const analytics = create({ host: collector.url, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect((await done).err).toBeUndefined();
    const [first, second] = collector.requests as [Received, Received];
    expect([first.path, second.path]).toEqual(['/v1/batch', '/v2/batch']);
    expect([second.method, second.raw]).toEqual(['POST', first.raw]);
  });

  it.each([307, 308])('sends neither write key nor events where a %i of another origin points', async (status) => {
    const stranger = await collect();
    const collector = await collect((response, { path }) =>
      response
        .writeHead(status, { Location: path === '/v1/batch' ? '/moved' : `${stranger.url}/v1/batch?key=1` })
        .end(),
    );
    const analytics = create({ host: collector.url, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect(messageOf((await done).err)).toBe(
      `[${status}] a redirect to ${stranger.url}, another origin, is not followed with the write key. ` +
        'Set the setting host to where events are to be sent',
    );
    expect(collector.requests.map(({ path }) => path)).toEqual(['/v1/batch', '/moved']);
    expect(stranger.requests).toEqual([]);
  });

  it.each(['', '/v1/batch'])('ends at a 308 to "%s", which leads nowhere', async (location) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const collector = await collect({ status: 308, headers: { Location: location } });
    const analytics = create({ host: collector.url, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect((await done).err).toBeUndefined();
    expect(collector.requests).toHaveLength(location === '/v1/batch' ? 6 : 1);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it.each([200, 202, 299, 304])('counts %i as delivered', async (status) => {
    const collector = await collect(status);
    const analytics = create({ host: collector.url, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect((await done).err).toBeUndefined();
    expect(collector.requests).toHaveLength(1);
  });

  it.each([400, 401, 403, 404, 413, 501, 505, 511])('fails at once after %i', async (status) => {
    const collector = await collect(status);
    const analytics = create({ host: collector.url, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect(messageOf((await done).err)).toMatch(new RegExp(`^\\[${status}\\] \\w+`));
    expect(collector.requests).toHaveLength(1);
  });

  it('fails with the status once the retries are used up', async () => {
    const collector = await collect(503);
    const analytics = create({ host: collector.url, maxRetries: 1, httpClient: client() });
    const errors: unknown[] = [];
    analytics.on('error', (error) => errors.push(error));
    const done = tracked(analytics);
    await analytics.flush();
    const { err, ctx } = await done;
    expect(messageOf(err)).toBe('[503] Service Unavailable');
    expect(ctx.failedDelivery()).toEqual({ reason: err });
    expect(errors).toEqual([{ code: 'delivery_failure', reason: err, ctx }]);
    expect(collector.requests).toHaveLength(2);
  });

  it('fails with the network error where the connection is refused', async () => {
    const analytics = create({ host: await refusingUrl(), maxRetries: 0, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect((await done).err).toHaveProperty('message');
  });

  it('gives up a request that is not answered in time', async () => {
    const collector = await collect(() => undefined);
    const analytics = create({ host: collector.url, maxRetries: 0, httpRequestTimeout: 40, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect(messageOf((await done).err)).toBe('The request took longer than 40 ms');
    expect((await done).err).toHaveProperty('code', 'request_timeout');
    await collector.closed(); // Nothing stays open behind it.
  });

  it('takes an answer that arrived in time, even if the process was paused for longer than httpRequestTimeout', async () => {
    const collector = await AnsweringThread.start();
    cleanUp(() => collector.stop());
    const analytics = create({ host: collector.url, maxRetries: 0, httpRequestTimeout: 500, httpClient: client() });
    const done = tracked(analytics);
    const flushed = analytics.flush();
    await waitFor(() => collector.requests === 1);
    collector.answer();
    await blockEventLoop(600);
    await flushed;
    expect((await done).err).toBeUndefined();
  });

  it('gives up a response whose body drips', async () => {
    const collector = await collect((response) => {
      response.writeHead(200, { 'Content-Length': '1000' });
      const timer = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(timer));
    });
    const analytics = create({ host: collector.url, maxRetries: 0, httpRequestTimeout: 60, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect(messageOf((await done).err)).toBe('The request took longer than 60 ms');
    await collector.closed();
  });

  it('retries where the connection breaks in the middle of the response', async () => {
    const collector = await collect((response) => {
      response.writeHead(200, { 'Content-Length': '1000' });
      response.write('{', () => response.socket?.destroy());
    }, 200);
    const analytics = create({ host: collector.url, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect((await done).err).toBeUndefined();
    expect(collector.requests).toHaveLength(2);
  });

  it('reads responses and uses one connection again and again', async () => {
    const collector = await collect({ status: 200, body: 'x'.repeat(5000) });
    const analytics = create({ host: collector.url, maxEventsInBatch: 1, httpClient: client() });
    for (let i = 0; i < 20; i++) expect((await tracked(analytics)).err).toBeUndefined();
    expect(collector.requests).toHaveLength(20);
    expect(collector.connections).toBeLessThanOrEqual(connectionsPerRequest);
  });

  it('does not read an endless response to its end', async () => {
    let abandoned!: () => void;
    const wasAbandoned = new Promise<void>((resolve) => (abandoned = resolve));
    const collector = await collect((response) => {
      response.writeHead(200).on('close', abandoned);
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    const analytics = create({ host: collector.url, httpClient: client() });
    const done = tracked(analytics);
    await analytics.flush();
    expect((await done).err).toBeUndefined();
    await wasAbandoned;
  });

  it('bounds the requests in flight', async () => {
    const collector = await collect((response) => setTimeout(() => response.end('{}'), 5));
    const analytics = create({ host: collector.url, maxEventsInBatch: 1, httpClient: client() });
    for (let i = 0; i < 100; i++) analytics.track(event());
    await analytics.flush();
    expect(collector.messages).toHaveLength(100);
    expect(new Set(collector.messages.map(({ messageId }) => messageId)).size).toBe(100);
    expect(collector.connections).toBeGreaterThan(1);
    expect(collector.connections).toBeLessThanOrEqual(16);
  });

  it.each([
    ['seconds', () => '1'],
    ['an HTTP date', () => new Date(Date.now() + 2000).toUTCString()],
  ])('pauses the whole instance for Retry-After in %s, without using up a retry', async (_form, retryAfter) => {
    const collector = await collect(
      (response) => response.writeHead(429, { 'Retry-After': retryAfter() }).end('{}'),
      200,
    );
    const analytics = create({ host: collector.url, maxRetries: 0, maxEventsInBatch: 1, httpClient: client() });
    const paused = tracked(analytics);
    await new Promise((resolve) => analytics.once('http_response', () => setImmediate(resolve)));
    const first = collector.requests[0]!.at;
    const later = tracked(analytics);
    expect((await paused).err).toBeUndefined();
    expect((await later).err).toBeUndefined();
    const waits = collector.requests.slice(1).map(({ at }) => at - first);
    expect(waits).toHaveLength(2);
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(950);
  });
});
