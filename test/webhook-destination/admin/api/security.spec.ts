import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

import { type CanActivate, Controller, type ExecutionContext, Get, Injectable } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { platforms } from '../../../support/platforms.js';
import { ROUTES } from './routes.js';
import { followAudit, OWN_PAGE, READ_TOKEN, startApi, TOKEN, track } from './support.js';

/** With these options there is every route. */
const EVERY = { options: { registry: 'store', portal: { secret: 'portal-secret-of-the-tests-of-32-bytes' } } } as const;

const bodyOf = (method: string) => (method === 'GET' ? undefined : {});

describe.each(platforms)('The gate of the API on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  it('has a row here for every route', async () => {
    const { app } = await startApi(cleanUp, createAdapter(), EVERY);
    const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger');
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    const documented = Object.entries(paths)
      .filter(([path]) => path.startsWith('/relay/api/'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
    const rows = ROUTES.map(([method, path]) => `${method} /relay/api/${path}`);
    const shapeOf = (route: string) => route.replace(/\/(1|x|u1)(?=\/|$)/g, '/{}').replace(/\{\w+\}/g, '{}');
    expect(documented.map(shapeOf).sort()).toEqual(
      [...rows, 'POST /relay/api/session', 'DELETE /relay/api/session'].map(shapeOf).sort(),
    );
  });

  it('refuses every route to those without a token or session, and to pages of other sites', async () => {
    const { ask } = await startApi(cleanUp, createAdapter(), EVERY);
    const unknown = randomBytes(32).toString('base64url');
    for (const [method, path] of [...ROUTES, ['GET', 'no-such-route'], ['PUT', 'overview']] as const) {
      const body = bodyOf(method);
      const expectStatus = async (status: number, asked: object) =>
        expect([method, path, asked, (await ask(method, path, { body, ...asked })).status]).toEqual([
          method,
          path,
          asked,
          status,
        ]);
      await expectStatus(401, { token: null });
      await expectStatus(401, { token: null, headers: { ...OWN_PAGE, Cookie: `relay_session=${unknown}` } });
      await expectStatus(401, { token: null, headers: { Authorization: `Basic ${btoa(`${TOKEN}:`)}` } });
      await expectStatus(403, { headers: { 'Sec-Fetch-Site': 'cross-site' } });
      await expectStatus(403, { headers: { 'Sec-Fetch-Site': 'same-site' } });
    }
  });

  it('refuses every route to a wrong token', async () => {
    // Each answer takes 250 ms, and an address has few of them: the others are 429.
    const { ask } = await startApi(cleanUp, createAdapter(), EVERY);
    const statuses = await Promise.all(
      ROUTES.map(([method, path]) =>
        ask(method, path, { body: bodyOf(method), token: `${TOKEN}x` }).then(({ status }) => status),
      ),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(ROUTES.length - 10);
  });

  it('lets those look who may look, and change nothing', async () => {
    const { ask, relay } = await startApi(cleanUp, createAdapter(), EVERY);
    for (const [method, path, changes] of ROUTES) {
      const response = await ask(method, path, { body: bodyOf(method), token: READ_TOKEN });
      if (changes) expect([method, path, response.status]).toEqual([method, path, 403]);
      else expect([method, path, [401, 403].includes(response.status)]).toEqual([method, path, false]);
      await response.body?.cancel();
    }
    expect(await relay.deliveries({})).toEqual([]);
  });

  it('wants JSON of every change', async () => {
    const { ask } = await startApi(cleanUp, createAdapter(), EVERY);
    for (const [method, path] of ROUTES.filter(([verb]) => verb !== 'GET')) {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const { status } = await ask(method, path, { body: 'a=1', headers: { 'Content-Type': type } });
        expect([method, path, status]).toEqual([method, path, 415]);
      }
    }
  });

  it('needs no Content-Type without a body, except for what a page of another site could send with cookies', async () => {
    const { ask, json, host } = await startApi(cleanUp, createAdapter(), { options: { registry: 'store' } });
    const session = (await ask('POST', 'session', { token: null, body: { token: TOKEN } })).headers.getSetCookie()[0]!;
    const bare = async (method: string, path: string, headers: Record<string, string>) =>
      (await fetch(`${host}/relay/api/${path}`, { method, headers })).status;
    const bearer = { Authorization: `Bearer ${TOKEN}` };
    const cookie = { Cookie: session, 'Sec-Fetch-Site': 'same-origin' };
    for (const headers of [bearer, cookie]) {
      await json('POST', 'destinations', { body: { name: 'crm', urls: ['https://receiver.example/'] } });
      const pauses = headers === bearer ? 200 : 415;
      expect(await bare('POST', 'destinations/crm/pause', headers)).toBe(pauses);
      expect(await bare('POST', 'destinations/crm/resume', headers)).toBe(pauses);
      expect(await bare('DELETE', 'destinations/crm', { ...headers, 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
      expect(await bare('DELETE', 'destinations/crm', headers)).toBe(200);
    }
    expect(await bare('DELETE', 'users/u1', bearer)).toBe(200);
  });

  it('is one by itself: the global guards of the application do not stand before it', async () => {
    @Injectable()
    class NobodyGuard implements CanActivate {
      canActivate(): boolean {
        return false;
      }
    }
    @Controller()
    class Own {
      @Get('own')
      own() {
        return 'own';
      }
    }
    const { ask, host } = await startApi(cleanUp, createAdapter(), {
      metadata: { providers: [{ provide: APP_GUARD, useClass: NobodyGuard }], controllers: [Own] },
    });
    expect((await fetch(`${host}/own`)).status).toBe(403);
    expect((await ask('GET', 'overview')).status).toBe(200);
    expect((await ask('GET', 'overview', { token: null })).status).toBe(401);
  });

  it('is the guard of the application, which says what a caller may do', async () => {
    interface Request {
      headers: Record<string, string | undefined>;
      user?: unknown;
    }
    class UserGuard implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        const request = context.switchToHttp().getRequest<Request>();
        const name = request.headers['x-user'];
        request.user = name === undefined ? undefined : { id: name };
        return name !== undefined;
      }
    }
    const access = (request: unknown) =>
      ({ root: 'write', guest: 'read', odd: 'admin' })[(request as Request).headers['x-user']!] as 'read';
    const { ask, get, relay } = await startApi(cleanUp, createAdapter(), { admin: { guard: UserGuard, access } });
    const audit = followAudit(relay);
    const as = (user: string) => ({ token: null, headers: { 'X-User': user } });
    expect((await ask('GET', 'overview', { token: TOKEN })).status).toBe(403);
    expect((await ask('GET', 'overview', as('odd'))).status).toBe(403);
    expect((await ask('GET', 'overview', as('guest'))).status).toBe(200);
    expect(await get('session', as('guest'))).toEqual({
      access: 'read',
      by: 'guard',
      user: 'guest',
      signIn: 'guard',
      searchFields: [],
      hasStoredRegistry: false,
    });
    expect((await ask('DELETE', 'users/u1', { ...as('guest'), body: {} })).status).toBe(403);
    expect((await ask('DELETE', 'users/u1', { ...as('root'), body: {} })).status).toBe(200);
    const route = 'DELETE users/:userId';
    expect(audit).toMatchObject([
      { action: 'request.refused', by: undefined, details: { code: 'admin_only', route: 'GET overview' } },
      { action: 'request.refused', by: undefined, details: { code: 'admin_only', route: 'GET overview' } },
      { action: 'request.refused', by: 'guard', user: 'guest', userIds: ['u1'], details: { code: 'read_only', route } },
      { action: 'user.delete', by: 'guard', user: 'root', userIds: ['u1'] },
    ]);
    const signIn = await ask('POST', 'session', { token: null, body: { token: TOKEN } });
    expect(signIn.status).toBe(404);
  });

  it('answers what no client should send with JSON that names the fault', async () => {
    const { ask, json, host } = await startApi(cleanUp, createAdapter());
    expect(await json('GET', 'nothing')).toMatchObject({ status: 404, answer: { code: 'route_unknown' } });
    expect(await json('DELETE', 'overview')).toMatchObject({ status: 405, answer: { code: 'method_unknown' } });
    expect((await ask('GET', 'destinations/%ff')).status).toBe(400); // on Fastify, by itself
    expect(await json('POST', 'replays', { body: '[]' })).toMatchObject({ status: 400 });
    expect((await ask('POST', 'replays', { body: '{' })).status).toBe(400);
    const { headers } = await ask('GET', 'overview');
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
    // As some proxies ask.
    const { port } = new URL(host);
    const raw = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write(`GET http://any/relay/api/overview HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n`),
      );
      let text = '';
      socket.on('data', (data) => (text += String(data))).on('close', () => resolve(text));
    });
    expect(raw).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('has the deletion route as well: a token that may look deletes nothing', async () => {
    const { host, relay } = await startApi(cleanUp, createAdapter());
    await relay.accept('wk_shop', [track('m1')]);
    const remove = (token: string) =>
      fetch(`${host}/v1/delete`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: '{"userId":"u1"}',
      });
    expect((await remove(READ_TOKEN)).status).toBe(403);
    expect(await relay.deliveries({ userId: 'u1' })).toHaveLength(1);
    expect((await remove(TOKEN)).status).toBe(200);
  });
});
