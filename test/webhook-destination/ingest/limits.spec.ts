import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

import { Logger } from '@nestjs/common';
import type { WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { startRelayApp } from '../../support/relay.app.js';

const sources = [
  { name: 'shop', writeKey: 'wk_shop' },
  { name: 'blog', writeKey: 'wk_blog' },
];

/** Who sends a request. */
interface Client {
  /** An address of loopback. */
  from?: string;
  key?: string;
  headers?: Record<string, string>;
  path?: string;
}

describe.each(platforms)('Limits on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start(ingest: WebhookDestinationModuleOptions['ingest'] = {}) {
    const { host } = await startRelayApp(afterwards, createAdapter(), { options: { sources, ingest } });

    async function send({ from = '127.0.0.1', key = 'wk_shop', headers, path = '/v1/track' }: Client = {}) {
      const sent = request(host + path, {
        method: 'POST',
        localAddress: from,
        agent: false,
        headers: { Authorization: `Bearer ${key}`, ...headers },
      });
      sent.end('{"userId":"u1","event":"Order Completed"}');
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      let body = '';
      for await (const chunk of answer) body += String(chunk);
      const { code, field } = JSON.parse(body) as { code?: string; field?: string };
      return { status: answer.statusCode!, retryAfter: Number(answer.headers['retry-after']), code, field };
    }

    async function statuses(count: number, client: Client): Promise<number[]> {
      const all: number[] = [];
      for (let i = 0; i < count; i++) all.push((await send({ ...client, key: client.key ?? `wk_guess${i}` })).status);
      return all;
    }

    return { send, statuses };
  }

  it('an address may send 60 wrong keys a minute', async () => {
    const { send, statuses } = await start();
    expect(new Set(await statuses(60, {}))).toEqual(new Set([401]));
    const refused = await send({ key: 'wk_guess' });
    expect(refused).toMatchObject({ status: 429, code: 'rate_limited', field: 'writeKey' });
    expect(refused.retryAfter).toBeGreaterThan(0);
    expect(refused.retryAfter).toBeLessThanOrEqual(60);
    expect((await send({ from: '127.0.0.2', key: 'wk_guess' })).status).toBe(401);
  });

  it('an address that may be a proxy goes on with right keys', async () => {
    const { send, statuses } = await start();
    expect((await statuses(61, {})).at(-1)).toBe(429);
    expect([(await send()).status, (await send({ key: 'wk_guess' })).status]).toEqual([200, 429]);
  });

  const clientAddress = ({ socket }: IncomingMessage) => socket.remoteAddress;

  it('a client that is past it does not learn that a key is right', async () => {
    const { send, statuses } = await start({ clientAddress });
    await statuses(60, {});
    const refused = await send();
    expect(refused).toMatchObject({ status: 429, code: 'rate_limited', field: 'writeKey' });
    expect(refused).toEqual(await send({ key: 'wk_guess' }));
    expect((await send({ from: '127.0.0.2' })).status).toBe(200);
  });

  it('a client that is past it goes on with the key that it had used before', async () => {
    const { send, statuses } = await start({ clientAddress });
    await send();
    expect((await statuses(61, {})).at(-1)).toBe(429);
    expect([(await send()).status, (await send({ key: 'wk_blog' })).status]).toEqual([200, 429]);
  });

  it('right keys are not counted', async () => {
    const { statuses } = await start();
    expect(new Set(await statuses(100, { key: 'wk_shop' }))).toEqual(new Set([200]));
  });

  it('a key in the body counts as one in the header, and no key as a wrong one', async () => {
    const { send, statuses } = await start();
    await statuses(58, {});
    const answers: number[] = [];
    for (let i = 0; i < 3; i++) answers.push((await send({ headers: { Authorization: '' } })).status);
    expect(answers).toEqual([401, 401, 429]);
  });

  it('an address may send 600 requests a minute that want no key', async () => {
    const { send, statuses } = await start();
    expect(new Set(await statuses(600, { path: '/v1/m' }))).toEqual(new Set([200]));
    expect(await send({ path: '/v1/m' })).toMatchObject({ status: 429, code: 'rate_limited', field: 'request' });
    expect((await send({ path: '/v1/m', from: '127.0.0.2' })).status).toBe(200);
    expect((await send()).status).toBe(200);
  });

  it('the limit of a source is not that of wrong keys and of requests without one', async () => {
    const { statuses } = await start({ rateLimit: { limit: 2, ttl: 60_000 } });
    expect(await statuses(3, {})).toEqual([401, 401, 401]);
    expect(await statuses(3, { path: '/v1/m' })).toEqual([200, 200, 200]);
  });

  it('the limit of a source may be that of each address', async () => {
    const { send, statuses } = await start({ rateLimit: { limit: 2, ttl: 60_000, by: 'address' } });
    expect(await statuses(3, { key: 'wk_shop' })).toEqual([200, 200, 429]);
    expect((await send({ from: '127.0.0.2' })).status).toBe(200);
    expect((await send({ key: 'wk_blog' })).status).toBe(200);
  });

  it('no header says what the address is, unless the application reads it', async () => {
    const { send, statuses } = await start({ rateLimit: { limit: 1, ttl: 60_000, by: 'address' } });
    expect(await statuses(1, { key: 'wk_shop' })).toEqual([200]);
    for (const name of ['X-Forwarded-For', 'X-Real-IP', 'Forwarded']) {
      expect((await send({ headers: { [name]: name === 'Forwarded' ? 'for=10.0.0.9' : '10.0.0.9' } })).status).toBe(
        429,
      );
    }
  });

  it('the application may say what the address is', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    afterwards(() => warn.mockRestore());
    const { send } = await start({
      rateLimit: { limit: 1, ttl: 60_000, by: 'address' },
      clientAddress: ({ headers }) => {
        if (headers['x-client'] === 'broken') throw new Error('no such client');
        return headers['x-client']?.toString();
      },
    });
    const sendAs = async (client: string) => (await send({ headers: { 'X-Client': client } })).status;
    expect([await sendAs('10.0.0.1'), await sendAs('10.0.0.2'), await sendAs('10.0.0.1')]).toEqual([200, 200, 429]);
    expect(await sendAs('::ffff:10.0.0.1')).toBe(429);
    expect(await sendAs('::ffff:0a00:0002')).toBe(429);
    // An IPv6 client has all addresses of its network.
    expect(await sendAs('2001:db8:0:1::1')).toBe(200);
    expect(await sendAs('2001:DB8:0:1:ffff:ffff:ffff:ffff')).toBe(429);
    expect(await sendAs('2001:0db8::1:0:0:0:2')).toBe(429);
    expect(await sendAs('2001:db8:0:2::1')).toBe(200);
    // Else it is that of the connection.
    expect([await sendAs('unknown'), await sendAs('10.0.0.1, 10.0.0.9'), await sendAs('broken')]).toEqual([
      200, 429, 429,
    ]);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/ingest\.clientAddress failed.*no such client/)]]);
  });
});
