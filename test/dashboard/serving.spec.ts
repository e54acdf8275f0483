import { type CanActivate, type ExecutionContext, UnauthorizedException } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { startRelayApp } from '../support/relay.app.js';
import { startApi } from '../webhook-destination/admin/api/support.js';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** What a page loads: paths relative to it. */
const pathsOf = (page: string) => [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => path!);

const headersOf = ({ headers }: Response) => Object.fromEntries(headers);

/** Lets in requests with the header `x-user`. */
class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<IncomingMessage & { user?: unknown }>();
    request.user = request.headers['x-user'];
    if (request.user === undefined) throw new UnauthorizedException('sign in to the shop');
    return true;
  }
}

describe.each(platforms)('The dashboard on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('is a page and files with hashed names, which hold no data', async () => {
    const { host } = await startApi(afterwards, createAdapter());
    const page = await fetch(`${host}/relay/`);
    expect(page.status).toBe(200);
    expect(headersOf(page)).toMatchObject({
      ...HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
    });
    const html = await page.text();
    expect(html).not.toMatch(/<style|style=|<script(?! type="module" src=)|\bon\w+=/);
    const paths = pathsOf(html);
    expect(paths.map((path) => path.replace(/-.*\./, '.')).sort()).toContain('assets/main.js');
    for (const path of paths) {
      expect(path).toMatch(/^assets\/(main|chunk)-[A-Z0-9]{8}\.(js|css)$/);
      const asset = await fetch(`${host}/relay/${path}`);
      expect(headersOf(asset)).toMatchObject({
        ...HEADERS,
        'content-type': path.endsWith('js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
        'content-encoding': 'gzip',
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
      });
      const plain = await fetch(`${host}/relay/${path}`, { headers: { 'Accept-Encoding': 'gzip;q=0' } });
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(await plain.text()).toBe(await asset.text());
    }
  });

  it('answers HEAD, and 304 for a page that is known', async () => {
    const { host } = await startApi(afterwards, createAdapter());
    const page = await fetch(`${host}/relay/`, { method: 'HEAD' });
    expect([page.status, await page.text()]).toEqual([200, '']);
    expect(Number(page.headers.get('content-length'))).toBeGreaterThan(500);
    const tag = page.headers.get('etag')!;
    for (const known of [tag, `"other", W/${tag}`]) {
      const again = await fetch(`${host}/relay/`, { headers: { 'If-None-Match': known } });
      expect([again.status, await again.text()]).toEqual([304, '']);
      expect(headersOf(again)).toMatchObject({ ...HEADERS, etag: tag });
    }
    expect((await fetch(`${host}/relay/`, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
  });

  it('redirects to the path with a slash, relative to the request', async () => {
    const { host } = await startApi(afterwards, createAdapter(), { prepare: (app) => app.setGlobalPrefix('my/app') });
    for (const path of ['/relay', '/relay?a=b', '/my/app/relay']) {
      const { status, headers } = await fetch(host + path, { redirect: 'manual' });
      expect([status, headers.get('location')]).toEqual([302, 'relay/']);
    }
    expect((await fetch(`${host}/my/app/relay`)).url).toBe(`${host}/my/app/relay/`);
  });

  it('leaves other paths to the application, and refuses other methods', async () => {
    const { host } = await startApi(afterwards, createAdapter());
    const answerOf = async (path: string, method = 'GET') => {
      const response = await fetch(host + path, { method });
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect(await answerOf('/relays')).toEqual([404, undefined]);
    expect(await answerOf('/relay/other')).toEqual([404, undefined]);
    for (const path of ['none.js', '', 'constructor', '..%2F..%2Fpackage.json', '__proto__']) {
      expect(await answerOf(`/relay/assets/${path}`)).toEqual([404, 'file_unknown']);
    }
    expect(await answerOf('/relay/', 'POST')).toEqual([405, 'method_unknown']);
  });

  it('keeps its own policy where middleware of the application sets another one', async () => {
    const { host } = await startApi(afterwards, createAdapter(), {
      prepare: (app) =>
        app.use((_request: IncomingMessage, response: ServerResponse, next: () => void) => {
          response.setHeader('Content-Security-Policy', "default-src 'self' https:");
          response.setHeader('Referrer-Policy', 'origin');
          next();
        }),
    });
    expect(headersOf(await fetch(`${host}/relay/`))).toMatchObject(HEADERS);
  });

  it('has the guard of the application before the page, its files and the redirect', async () => {
    const { host } = await startApi(afterwards, createAdapter(), { admin: { guard: HeaderGuard } });
    const page = await fetch(`${host}/relay/`, { headers: { 'x-user': 'ann' } });
    const html = await page.text();
    expect(html).toContain('data-sign-in="guard"');
    for (const path of ['relay', 'relay/', ...pathsOf(html).map((asset) => `relay/${asset}`)]) {
      const refused = await fetch(`${host}/${path}`, { redirect: 'manual' });
      expect([path, refused.status]).toEqual([path, 401]);
      expect(headersOf(refused)).toMatchObject({ ...HEADERS, 'cache-control': 'no-store' });
      expect(await refused.json()).toEqual({ code: 'admin_only', message: 'sign in to the shop' });
      const { status, headers } = await fetch(`${host}/${path}`, { headers: { 'x-user': 'ann' } });
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('cache-control')).not.toContain('public');
    }
  });

  it('is not there without the option admin', async () => {
    const { host } = await startRelayApp(afterwards, createAdapter());
    for (const path of ['relay', 'relay/', 'relay/assets/main.js']) {
      expect((await fetch(`${host}/${path}`)).status).toBe(404);
    }
  });

  it('keeps to its budgets, in bytes as they are sent', async () => {
    const { host } = await startApi(afterwards, createAdapter());
    const sizeOf = async (path: string) => Number((await fetch(`${host}/relay/${path}`)).headers.get('content-length'));
    const paths = pathsOf(await (await fetch(`${host}/relay/`)).text());
    const [styles, scripts] = ['.css', '.js'].map((end) => paths.filter((path) => path.endsWith(end)));
    const sum = async (files: string[]) => (await Promise.all(files.map(sizeOf))).reduce((a, b) => a + b);
    expect(await sum(styles!)).toBeLessThan(8 * 1_024);
    expect(await sum(scripts!)).toBeLessThan(30 * 1_024);
    const texts = await Promise.all(scripts!.map(async (path) => (await fetch(`${host}/relay/${path}`)).text()));
    const [chart] = /chart\.canvas-[A-Z0-9]{8}\.js/.exec(texts.join()) ?? []; // loaded with the first chart
    expect(await sizeOf(`assets/${chart}`)).toBeLessThan(25 * 1_024);
  });
});
