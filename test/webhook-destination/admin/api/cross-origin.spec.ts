import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

import { Controller, Get, type INestApplication } from '@nestjs/common';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { launchChromium, withChromium } from '../../../sdks/support/chromium.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { platforms } from '../../../support/platforms.js';
import { signIn, startApi, TOKEN } from './support.js';

@Controller()
class Own {
  @Get('own')
  own() {
    return 'own';
  }
}

describe.each(platforms)('In an application on $platform that allows every origin with credentials', (platform) => {
  const cleanUp = useCleanUps();

  const start = () =>
    startApi(cleanUp, platform.createAdapter(), {
      options: { registry: 'store' },
      metadata: { controllers: [Own] },
      prepare: (app: INestApplication) =>
        app.enableCors({ origin: true, credentials: true, exposedHeaders: ['X-Any'] }),
    });

  it('a session counts only in requests of its own origin', async () => {
    const api = await start();
    const { session } = await signIn(api);
    const { host } = new URL(api.host);
    const status = async (headers: Record<string, string>, method = 'GET') => {
      const path = method === 'GET' ? 'sources' : 'sources/any/rotate-key';
      const response = await api.ask(method, path, { token: null, headers: { Cookie: session, ...headers } });
      return response.status;
    };
    expect(await status({ 'Sec-Fetch-Site': 'same-origin' })).toBe(200);
    expect(await status({ 'Sec-Fetch-Site': 'none' })).toBe(200);
    for (const site of ['same-site', 'cross-site', 'same-origin, same-site', 'other', '']) {
      expect([site, await status({ 'Sec-Fetch-Site': site, Origin: api.host })]).toEqual([site, 403]);
    }
    expect(await status({})).toBe(403);
    // As over plain HTTP.
    expect(await status({ Origin: api.host })).toBe(200);
    expect(await status({ Referer: `${api.host}/relay/` })).toBe(200);
    expect(await status({ Origin: api.host }, 'POST')).toBe(404); // there is no such source
    for (const origin of [
      'null',
      'http://127.0.0.1:1',
      `http://${host}.evil.example`,
      `http://evil.example/${host}`,
      '',
    ]) {
      expect([origin, await status({ Origin: origin })]).toEqual([origin, 403]);
      expect([origin, await status({ Origin: origin }, 'POST')]).toEqual([origin, 403]);
    }
    expect(await status({ Referer: 'http://127.0.0.1:1/relay/' })).toBe(403);
    const raw = async (head: string) => {
      const socket = connect(Number(new URL(api.host).port), '127.0.0.1');
      socket.write(`GET /relay/api/sources ${head}\r\nConnection: close\r\nCookie: ${session}\r\n\r\n`);
      const [bytes] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return bytes.toString().split(' ')[1];
    };
    expect(await raw('HTTP/1.1\r\nHost: relay.example:80\r\nOrigin: http://relay.example')).toBe('200');
    expect(await raw('HTTP/1.1\r\nHost: relay.example:80\r\nOrigin: https://relay.example')).toBe('403');
    expect(await raw('HTTP/1.0\r\nOrigin: null')).toBe('403');
  });

  it('no answer of the admin routes has CORS headers', async () => {
    const { ask, host } = await start();
    const headers = { Origin: 'http://127.0.0.1:1', Authorization: `Bearer ${TOKEN}` };
    const namesOf = (response: Response) => [...response.headers.keys()].filter((name) => /^access-control/.test(name));
    expect(namesOf(await fetch(`${host}/own`, { headers }))).toContain('access-control-allow-origin');
    for (const given of [{}, headers, { ...headers, Origin: host }]) {
      for (const path of ['overview', 'metrics', 'none', 'events']) {
        const response = await ask('GET', path, { token: null, headers: given });
        expect([path, namesOf(response)]).toEqual([path, []]);
        await response.body?.cancel();
      }
      expect(namesOf(await fetch(`${host}/relay/`, { headers: given }))).toEqual([]);
      const deletion = { method: 'POST', headers: { ...given, 'Content-Type': 'application/json' }, body: '{}' };
      expect(namesOf(await fetch(`${host}/v1/delete`, deletion))).toEqual([]);
    }
  });

  describe.runIf(withChromium)('in Chromium', () => {
    async function visit(base: string, host?: string): Promise<Page> {
      const browser = await launchChromium(host);
      cleanUp(() => browser.close());
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${base}/relay/`);
      await page.getByLabel('Admin token').fill(TOKEN);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      return page;
    }

    it('a page of the same site reads and changes nothing', async () => {
      const { host, relay } = await start();
      const page = await visit(host);
      const other = createServer((_request, response) => response.end('other')).listen(0, '127.0.0.1');
      await once(other, 'listening');
      cleanUp(() => other.close());
      await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
      const attempts = await page.evaluate(async (base) => {
        const request = (path: string, options: RequestInit = {}) =>
          fetch(base + path, { credentials: 'include', ...options }).then(
            ({ status }) => `read ${status}`,
            () => 'blocked',
          );
        const headers = { 'Content-Type': 'application/json' };
        return Promise.all([
          request('/own'),
          request('/relay/api/overview'),
          request('/relay/api/sources', { method: 'POST', headers, body: '{"name":"stolen"}' }),
          request('/relay/api/session', { method: 'DELETE', headers, body: '{}' }),
        ]);
      }, host);
      expect(attempts).toEqual(['read 200', 'blocked', 'blocked', 'blocked']);
      expect(await relay.sources.get('stolen')).toBeUndefined();
      await page.goto(`${host}/relay/`);
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
    });

    it('the dashboard works over plain HTTP, where browsers do not send Sec-Fetch-Site', async () => {
      const { app, host } = await start();
      const sites = new Set<unknown>();
      (app.getHttpServer() as ReturnType<typeof createServer>).prependListener('request', ({ headers, url }) => {
        if (url!.startsWith('/relay/api/')) sites.add(headers['sec-fetch-site']);
      });
      const page = await visit(host.replace('127.0.0.1', 'relay.test'), 'relay.test');
      await page.reload();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const streamed = page.waitForResponse((response) => response.url().includes('/api/events'));
      await page.getByRole('link', { name: 'Live', exact: true }).click();
      expect((await streamed).status()).toBe(200);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Admin token').waitFor();
      expect([...sites]).toEqual([undefined]);
    });
  });
});
