import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { type AdminOptions, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { setClock } from '../../../support/clock.js';
import { platforms } from '../../../support/platforms.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { waitFor } from '../../../support/wait-for.js';
import { followAudit, READ_TOKEN, readStream, signIn, startApi, TOKEN } from './support.js';

const MINUTE = 60_000;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe.each(platforms)('Sessions on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  async function start(token = TOKEN) {
    const api = await startApi(cleanUp, createAdapter());
    return { ...api, ...(await signIn(api, { token })) };
  }

  it('are cookies that scripts and other sites do not see', async () => {
    const { status, answer, cookie, ask, asked, get } = await start();
    expect([status, answer]).toEqual([
      200,
      { access: 'write', searchFields: [], hasStoredRegistry: false, expiresAt: expect.any(Number) },
    ]);
    expect(cookie).toMatch(/^relay_session=[\w-]{43}; Path=\/relay; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect((await ask('GET', 'overview', asked())).status).toBe(200);
    expect(await get('session', asked())).toEqual({
      access: 'write',
      by: 'session',
      signIn: 'token',
      searchFields: [],
      hasStoredRegistry: false,
    });
    expect((await ask('POST', 'destinations/x/pause', { ...asked(), body: {} })).status).toBe(409);
  });

  it('have the access of their token', async () => {
    const { ask, asked } = await start(READ_TOKEN);
    expect((await ask('GET', 'overview', asked())).status).toBe(200);
    expect((await ask('POST', 'destinations/x/pause', { ...asked(), body: {} })).status).toBe(403);
  });

  it('are refused if nobody started them', async () => {
    const { ask, asked, session } = await start();
    const last = session.at(-1) === 'A' ? 'B' : 'A';
    for (const forged of [session.slice(0, -1) + last, session.slice(0, -1), 'relay_session=', 'relay_session']) {
      expect((await ask('GET', 'overview', asked(forged))).status).toBe(401);
    }
    expect((await ask('GET', 'overview', asked(`relay_session=${'a'.repeat(5_000)}`))).status).toBe(401);
  });

  it('are found behind other cookies of the same name', async () => {
    const { ask, asked, session } = await start();
    const foreign = `relay_session=x; relay_session=${'a'.repeat(43)}; relay_session=`;
    expect((await ask('GET', 'overview', asked(`${foreign}; ${session}; ${foreign}`))).status).toBe(200);
  });

  it('end at sign-out, with their streams, and no other session does', async () => {
    const { ask, asked, json, relay } = await start();
    const other = await signIn({ json });
    const audit = followAudit(relay);
    const own = await readStream(await ask('GET', 'events', asked()));
    const others = await readStream(await ask('GET', 'events', other.asked()));
    const response = await ask('DELETE', 'session', { ...asked(), body: {} });
    expect(response.headers.getSetCookie()[0]).toMatch(/^relay_session=; Path=\/relay; Max-Age=0;/);
    await waitFor(own.hasEnded, undefined, 5_000);
    expect((await ask('GET', 'overview', asked())).status).toBe(401);
    expect((await ask('GET', 'overview', other.asked())).status).toBe(200);
    expect(others.hasEnded()).toBe(false);
    expect(audit).toMatchObject([{ action: 'sign-out', by: 'session', address: '127.0.0.1' }]);
  });

  it('do not count beside one of another sign-in, which somebody may have planted', async () => {
    const api = await startApi(cleanUp, createAdapter());
    const headers = { 'X-Forwarded-Proto': 'https' };
    const own = await signIn(api, { headers });
    const planted = await signIn(api, { token: READ_TOKEN, headers, base: '/tools/relay' });
    const both = own.asked(`${planted.session}; ${own.session}`);
    expect((await api.ask('GET', 'overview', both)).status).toBe(401);
    const { response } = await api.json('POST', 'session', { ...both, body: { token: TOKEN } });
    const [next] = response.headers.getSetCookie()[0]!.split(';');
    expect((await api.ask('GET', 'overview', own.asked(next))).status).toBe(200);
    for (const { session } of [own, planted]) {
      expect((await api.ask('GET', 'overview', own.asked(session))).status).toBe(401);
    }
  });

  it('are not extended by requests that a page sends without its user', async () => {
    const { ask, asked } = await start();
    const statusAfter = async (minutes: number, headers = {}) => {
      vi.restoreAllMocks();
      setClock(minutes * MINUTE);
      return (await ask('GET', 'overview', { ...asked(), headers: { ...asked().headers, ...headers } })).status;
    };
    expect(await statusAfter(20)).toBe(200);
    expect(await statusAfter(40, { 'X-Relay-Poll': '1' })).toBe(200);
    expect(await statusAfter(51)).toBe(401);
  });

  it('end after 30 minutes without a request, and 12 hours after the sign-in', async () => {
    const { ask, asked } = await start();
    const statusAfter = async (minutes: number) => {
      vi.restoreAllMocks();
      setClock(minutes * MINUTE);
      return (await ask('GET', 'overview', asked())).status;
    };
    for (let minutes = 29; minutes < 12 * 60; minutes += 29) expect(await statusAfter(minutes)).toBe(200);
    expect(await statusAfter(12 * 60)).toBe(401);
    const late = await start();
    vi.restoreAllMocks();
    setClock((12 * 60 + 30) * MINUTE);
    expect((await late.ask('GET', 'overview', late.asked())).status).toBe(401);
  });

  it('end after `idleTimeout`, with their streams, and leave the store', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const queue = memoryQueue()();
    const api = await startApi(cleanUp, createAdapter(), {
      admin: { token: TOKEN, idleTimeout: 5 * MINUTE },
      options: { queue: () => queue },
    });
    const { asked } = await signIn(api);
    const { hasEnded } = await readStream(await api.ask('GET', 'events', asked()));
    setClock(4 * MINUTE);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(hasEnded()).toBe(false);
    vi.restoreAllMocks();
    setClock(5 * MINUTE);
    await vi.advanceTimersByTimeAsync(MINUTE); // the stream has not prolonged it
    await waitFor(hasEnded, undefined, 5_000);
    await waitFor(async () => (await queue.registry.read(0)).every(({ document }) => document === undefined));
  });

  it('are Secure over TLS, and of their host alone where they can be', async () => {
    const api = await startApi(cleanUp, createAdapter());
    const tls = { 'X-Forwarded-Proto': 'https' };
    const own = await signIn(api, { headers: tls });
    expect(own.cookie).toMatch(
      /^__Host-relay_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    );
    const below = await signIn(api, { headers: tls, base: '/tools/relay' });
    expect(below.cookie).toMatch(/^__Host-relay_session-[\w-]{8}=[\w-]{43}; Path=\/; .*; SameSite=Strict; Secure$/);
    const plain = await signIn(api, { base: '/tools/relay' });
    expect(plain.cookie).toMatch(/^relay_session=[\w-]{43}; Path=\/tools\/relay; .*; SameSite=Strict$/);
    for (const { asked } of [own, below, plain]) expect((await api.ask('GET', 'overview', asked())).status).toBe(200);
    // Another host of the site can set this name, so over TLS it does not count.
    const tossed = plain.asked(plain.session);
    expect((await api.ask('GET', 'overview', { ...tossed, headers: { ...tossed.headers, ...tls } })).status).toBe(401);
    const end = await api.ask('DELETE', 'session', { ...own.asked(), body: {} });
    expect(end.headers.getSetCookie()[0]).toMatch(/^__Host-relay_session=; Path=\/; Max-Age=0; .*; Secure$/);
  });

  it('are started with a token alone, and for a path that ends in /relay', async () => {
    const { json } = await startApi(cleanUp, createAdapter());
    const statusOf = async (body: object, headers?: Record<string, string>) =>
      (await json('POST', 'session', { token: null, body: { token: TOKEN, ...body }, headers })).status;
    for (const base of ['/tools', 'relay', '/a;b/relay', '/a\r\nSet-Cookie: x/relay', 1]) {
      expect(await statusOf({ base })).toBe(400);
    }
    expect(await statusOf({ token: 1 })).toBe(400);
    expect(await statusOf({}, { 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
    expect(await statusOf({ token: 'a-guess' })).toBe(401);
  });

  it('are started 10 times a minute with a token from an address', async () => {
    const api = await startApi(cleanUp, createAdapter());
    const first = await signIn(api);
    for (let count = 0; count < 10; count++) expect((await signIn(api, { token: READ_TOKEN })).status).toBe(200);
    const { status, answer, response } = await api.json('POST', 'session', {
      token: null,
      body: { token: READ_TOKEN },
    });
    expect([status, answer.code]).toEqual([429, 'rate_limited']);
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(50);
    expect((await signIn(api)).status).toBe(200);
    expect((await api.ask('GET', 'overview', first.asked())).status).toBe(200);
  });

  it('of a guard do not exist, but it is asked about each stream every minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const known = new Set(['ann', 'bob']);
    let asked = 0;
    const guard: CanActivate = {
      canActivate(context: ExecutionContext): boolean {
        const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: string }>();
        request.user = request.headers['x-user'];
        asked++;
        return known.has(request.user!);
      },
    };
    const api = await startApi(cleanUp, createAdapter(), { admin: { guard } });
    const open = async (user: string) =>
      readStream(await api.ask('GET', 'events', { token: null, headers: { 'X-User': user } }));
    const [ann, bob] = [await open('ann'), await open('bob')];
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect([ann.hasEnded(), bob.hasEnded()]).toEqual([false, false]);
    known.delete('ann');
    await vi.advanceTimersByTimeAsync(MINUTE);
    await waitFor(ann.hasEnded, undefined, 5_000);
    expect(bob.hasEnded()).toBe(false);
    const before = asked;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(asked).toBe(before + 1); // about bob alone
  });
});

describe('A stored session', () => {
  const cleanUp = useCleanUps();

  it('reveals neither the cookie nor the token, and is written once a minute', async () => {
    const queue = memoryQueue()();
    const api = await startApi(cleanUp, new ExpressAdapter(), { options: { queue: () => queue } });
    const { session, asked } = await signIn(api);
    const records = await queue.registry.read(0);
    expect(records).toMatchObject([{ kind: 'session', name: expect.stringMatching(/^[\da-f]{64}$/) }]);
    expect(JSON.stringify(records)).not.toMatch(new RegExp(`${session.split('=')[1]}|${TOKEN}`));
    const revisionAt = async (offset: number) => {
      vi.restoreAllMocks();
      setClock(offset);
      expect((await api.ask('GET', 'overview', asked())).status).toBe(200);
      return (await queue.registry.read(0))[0]!.revision;
    };
    const { revision } = records[0]!;
    expect(await revisionAt(MINUTE - 5_000)).toBe(revision);
    expect(await revisionAt(MINUTE + 5_000)).toBeGreaterThan(revision);
  });

  it('outlives a restart, and ends when its token changes', async () => {
    const folder = await temporaryFolder(cleanUp);
    const start = (admin: AdminOptions) =>
      startApi(cleanUp, new ExpressAdapter(), {
        admin,
        options: { queue: sqliteQueue({ path: folder.path('a.db') }) },
      });
    let api = await start({ token: TOKEN });
    const { asked } = await signIn(api);
    const statusWith = async (admin: AdminOptions) => {
      await api.app.close();
      api = await start(admin);
      return (await api.ask('GET', 'overview', asked())).status;
    };
    expect(await statusWith({ token: TOKEN })).toBe(200);
    expect(await statusWith({ token: `${TOKEN}-new` })).toBe(401);
    // It is tied to the token, not to its place or access.
    const holders = [{ name: 'ann', token: TOKEN, access: 'read' as const }];
    expect(await statusWith({ tokens: holders })).toBe(200);
    expect(await api.get('session', asked())).toMatchObject({ access: 'read', user: 'ann' });
  });

  it('is one of 100 of its token: the next one ends the one of them that was used least recently', async () => {
    const queue = memoryQueue()();
    const times = { startedAt: Date.now(), usedAt: Date.now() + MINUTE };
    for (let count = 0; count < 198; count++) {
      const document = JSON.stringify({ tie: '', holder: count < 98 ? 'write' : 'read', ...times });
      await queue.registry.write({ kind: 'session', name: String(count), document }, 0);
    }
    const api = await startApi(cleanUp, new ExpressAdapter(), { options: { queue: () => queue } });
    const statusOf = async ({ asked }: Awaited<ReturnType<typeof signIn>>) =>
      (await api.ask('GET', 'session', asked())).status;
    const [first, second] = [await signIn(api), await signIn(api)];
    setClock(2 * MINUTE);
    expect(await statusOf(first)).toBe(200);
    for (let count = 0; count < 3; count++) await signIn(api, { token: READ_TOKEN });
    expect(await statusOf(first)).toBe(200);
    const third = await signIn(api);
    expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([200, 401, 200]);
  });
});
