import { Controller, Logger, Post } from '@nestjs/common';
import { memoryQueue } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { startRelayApp } from '../../support/relay.app.js';

const message = { userId: 'u1', event: 'Order Completed' };

/** A queue whose disk is full. */
function fullQueue() {
  const queue = memoryQueue()();
  queue.add = () => Promise.reject(new Error('database or disk is full'));
  return queue;
}

describe.each(platforms)('The endpoint on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const start = (options: Parameters<typeof startRelayApp>[2]) => startRelayApp(afterwards, createAdapter(), options);

  const TRACING = 'authorization,baggage,content-type,sentry-trace,traceparent,x-datadog-trace-id,x-retry-count';
  const preflight = (url: string, origin: string) =>
    fetch(url, {
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': TRACING,
      },
    });

  it('answers 503 with Retry-After, and never 200, while the queue takes nothing', async () => {
    const { host } = await start({ options: { queue: fullQueue } });
    const answer = await post(`${host}/v1/track`, message);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answer.json()).toMatchObject({ code: 'queue_unavailable' });
  });

  it('does not flood the log while the queue takes nothing', async () => {
    const { app, host } = await start({ options: { queue: fullQueue } });
    const [error, warn] = (['error', 'warn'] as const).map((level) =>
      vi.spyOn(Logger.prototype, level).mockImplementation(() => undefined),
    );
    for (let times = 0; times < 30; times++) await post(`${host}/v1/track`, message);
    await app.close();
    expect(error!.mock.calls.length).toBe(20);
    expect(error).toHaveBeenCalledWith('Messages could not be queued: database or disk is full');
    expect(warn).toHaveBeenCalledWith('Similar lines suppressed: 10');
    vi.restoreAllMocks();
  });

  it('limits the requests of each source by itself', async () => {
    const { host } = await start({
      options: {
        sources: [
          { name: 'shop', writeKey: 'wk_shop' },
          { name: 'blog', writeKey: 'wk_blog' },
        ],
        ingest: { rateLimit: { limit: 2, ttl: 60_000 } },
      },
    });
    const statuses: number[] = [];
    for (let times = 0; times < 3; times++) statuses.push((await post(`${host}/v1/track`, message)).status);
    expect(statuses).toEqual([200, 200, 429]);
    const limited = await post(`${host}/v1/track`, message);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(55);
    expect(await limited.json()).toMatchObject({ code: 'rate_limited', field: 'writeKey' });
    expect((await post(`${host}/v1/track`, message, 'wk_blog')).status).toBe(200);
  });

  it('lets pages of the named origins post, with any header', async () => {
    const { host } = await start({ options: { ingest: { cors: { origin: ['https://shop.example'] } } } });
    const allowed = await preflight(`${host}/v1/t`, 'https://shop.example');
    expect(allowed.status).toBe(204);
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': TRACING,
      'access-control-allow-credentials': 'true', // sendBeacon asks for them
      vary: 'Origin, Access-Control-Request-Headers',
    });
    const other = await preflight(`${host}/v1/t`, 'https://evil.example');
    expect(other.headers.has('access-control-allow-origin')).toBe(false);
  });

  it.each([
    ['https://*.shop.example', 'https://www.shop.example', true],
    ['https://*.shop.example', 'https://eu.www.shop.example', true],
    ['https://*.shop.example', 'https://shop.example', false],
    ['https://*.shop.example', 'https://.shop.example', false],
    ['https://*.shop.example', 'https://evilshop.example', false],
    ['https://*.shop.example', 'http://www.shop.example', false],
    ['https://*.shop.example', 'https://www.shop.example:8443', false],
    ['https://*.shop.example:8443', 'https://www.shop.example:8443', true],
    ['capacitor://localhost', 'capacitor://localhost', true],
    ['ionic://localhost', 'ionic://localhost', true],
    ['chrome-extension://abcdef', 'chrome-extension://abcdef', true],
  ])('of %s, allows %s: %s', async (origin, page, allowed) => {
    const { host } = await start({ options: { ingest: { cors: { origin } } } });
    const before = await preflight(`${host}/v1/t`, page);
    expect(before.headers.get('access-control-allow-origin')).toBe(allowed ? page : null);
    const body = JSON.stringify({ ...message, writeKey: 'wk_shop' });
    const answer = await fetch(`${host}/v1/t`, { method: 'POST', headers: { Origin: page }, body });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, allowed ? page : null]);
  });

  it.each(['https://*', 'https://shop.*', 'https://*.*.example', '*', 'shop.example', 'https://shop.example/', 'null'])(
    'refuses the origin %s at start',
    async (origin) => {
      await expect(start({ options: { ingest: { cors: { origin } } } })).rejects.toThrow('ingest.cors must be');
    },
  );

  it('lets these pages read every answer, and when to try again', async () => {
    const origin = 'https://shop.example';
    const { host } = await start({ options: { ingest: { cors: { origin: [origin] } } } });
    const send = (from: string, body: string) =>
      fetch(`${host}/v1/t`, { method: 'POST', headers: { Origin: from }, body });
    const good = JSON.stringify({ ...message, writeKey: 'wk_shop' });
    for (const [status, body] of [
      [200, good],
      [401, JSON.stringify(message)],
      [413, ' '.repeat(528_385)],
    ] as const) {
      const answer = await send(origin, body);
      expect(answer.status).toBe(status);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-expose-headers': 'Retry-After',
        vary: 'Origin',
      });
    }
    expect((await send('https://evil.example', good)).headers.has('access-control-allow-origin')).toBe(false);
  });

  it('lets every page post where told to, without credentials', async () => {
    const { host } = await start({ options: { ingest: { cors: true } } });
    const answer = await fetch(`${host}/v1/t`, {
      method: 'POST',
      headers: { Origin: 'https://any.example' },
      body: JSON.stringify({ ...message, writeKey: 'wk_shop' }),
    });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('lets no page post by default', async () => {
    const { host } = await start({});
    expect((await preflight(`${host}/v1/t`, 'https://any.example')).headers.has('access-control-allow-origin')).toBe(
      false,
    );
  });

  it('has the prefix that it is given, and none of the routes where it is off', async () => {
    const moved = await start({ options: { ingest: { prefix: 'collect/v1' } } });
    expect((await post(`${moved.host}/collect/v1/track`, message)).status).toBe(200);
    expect((await post(`${moved.host}/v1/track`, message)).status).toBe(404);
    const off = await start({ options: { ingest: false } });
    expect((await post(`${off.host}/v1/track`, message)).status).toBe(404);
  });

  it('takes the metrics of browsers, which have no key, and drops them', async () => {
    const { host, relay } = await start({});
    const answer = await fetch(`${host}/v1/m`, { method: 'POST', body: '{"series":[]}' });
    expect(answer.status).toBe(200);
    expect(await relay.deliveries()).toEqual([]);
  });

  it('leaves routes of the host alone that look alike', async () => {
    @Controller()
    class Alike {
      @Post('blog/v1/track')
      track(): string {
        return "the host's own";
      }
    }
    const { host } = await start({ metadata: { controllers: [Alike] } });
    expect(await (await post(`${host}/blog/v1/track`, message)).text()).toBe("the host's own");
  });
});
