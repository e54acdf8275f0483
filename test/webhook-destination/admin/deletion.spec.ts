import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import {
  type AdminOptions,
  memoryQueue,
  sqliteQueue,
  type WebhookDestinationModuleOptions,
} from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { setClock } from '../../support/clock.js';
import { listen, onExpress } from '../../support/platforms.js';
import { Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';
import { hang, ScriptedReceiver } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

@Injectable()
class Directory {
  readonly administrators = ['root'];
}

/** A guard as applications have it: with a dependency, and asking what middleware left on the request. */
@Injectable()
class AdministratorGuard implements CanActivate {
  constructor(private readonly directory: Directory) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined>; user?: string }>();
    const { headers } = request;
    if (context.getType() !== 'http' || headers['x-user'] === undefined)
      throw new UnauthorizedException('who are you?');
    request.user = headers['x-user'];
    return Promise.resolve(this.directory.administrators.includes(headers['x-user']));
  }
}

const sources = [
  { name: 'shop', writeKey: 'wk_shop' },
  { name: 'app', writeKey: 'wk_app' },
  { name: 'blog', writeKey: 'wk_blog' },
];

describe.each(onExpress)('Deletion on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();
  let receiver: Receiver;
  let relay: Relay;
  let base: string;

  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(() => receiver.stop());

  async function start(options: Partial<WebhookDestinationModuleOptions> = {}): Promise<void> {
    relay = await Relay.start({
      sources,
      destinations: [
        { name: 'A', urls: [`${receiver.url}/a`], sources: ['shop', 'app'], types: ['track'], sharedSecret: 'shh' },
        { name: 'B', urls: [`${receiver.url}/b`], sources: ['shop'] },
        { name: 'Off', urls: [`${receiver.url}/off`], enabled: false },
      ],
      admin: { token: 'letmein' },
      providers: [Directory, AdministratorGuard],
      adapter: createAdapter(),
      ...options,
    });
    cleanUp(() => relay.stop());
    base = await listen(relay.app);
  }

  async function post(
    body: unknown,
    headers: Record<string, string> = { Authorization: 'Bearer letmein' },
    path = 'v1/delete',
  ): Promise<{ status: number; answer: unknown; headers: Headers }> {
    const response = await fetch(`${base}/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, answer: await response.json(), headers: response.headers };
  }

  const bodiesAt = (path: string) =>
    receiver.webhooks.filter((webhook) => webhook.path === path).map(({ body }) => body);

  it('notifies each enabled destination once, however many of the affected sources it takes', async () => {
    await start();
    expect(await post({ userId: 'u1' })).toMatchObject({
      status: 200,
      answer: { success: true, notifications: 2, purged: 0 },
    });
    await receiver.received(2);
    const timestamp: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const notification = { type: 'delete', userId: 'u1', timestamp };
    expect(bodiesAt('/hook/a')).toEqual([notification]);
    expect(bodiesAt('/hook/b')).toEqual([notification]);
    expect(bodiesAt('/hook/off')).toEqual([]);
    await relay.settled('delivered', 2);
    expect(relay.events.map(({ destination, source }) => `${destination} ${source}`).sort()).toEqual([
      'A shop',
      'B shop',
    ]);
    expect(receiver.webhooks.find(({ path }) => path === '/hook/a')!.headers['x-signature']).toMatch(/^[0-9a-f]{40}$/);
  });

  it('is confined to the sources that are named', async () => {
    await start();
    expect(await post({ userIds: ['u1', 'u2', 'u1'], sources: ['app', 'blog', 'app'] })).toMatchObject({
      answer: { notifications: 2 },
    });
    await receiver.received(2);
    expect(bodiesAt('/hook/a').map(({ userId }) => userId)).toEqual(['u1', 'u2']);
  });

  it('answers beforehand whom it would notify, and deletes nothing', async () => {
    await start();
    const preview = (body: object) => post(body, undefined, 'relay/api/deletions/preview');
    expect((await preview({ userId: 'u1' })).answer).toEqual({
      receivers: ['A', 'B'],
      notifications: 2,
      disabledEndpoints: 0,
      leftOut: 0,
      disabled: ['Off'],
    });
    expect((await preview({ userId: 'u1', sources: ['app'] })).answer).toEqual({
      receivers: ['A'],
      notifications: 1,
      disabledEndpoints: 0,
      leftOut: 0,
      disabled: ['Off'],
    });
    const unknown = await preview({ userId: 'u1', sources: ['app', 'none'] });
    const message = expect.stringContaining('"none" is none') as string;
    expect(unknown).toMatchObject({ status: 400, answer: { field: 'sources', message } });
    expect(await relay.service.deliveries()).toEqual([]);
  });

  it('says beforehand how many endpoints of tenants it leaves out, because no source is named', async () => {
    await start({
      sources: [{ name: 'acme', writeKey: 'wk_acme', metadata: { tenant: 'acme' } }],
      destinations: [{ name: 'all', urls: [receiver.url] }],
      registry: 'store',
      portal: { secret: 'portal-secret-of-the-tests-of-32-bytes' },
    });
    await relay.service.destinations.create({ name: 'hook', urls: [receiver.url], metadata: { tenant: 'acme' } });
    const preview = (body: object) => post(body, undefined, 'relay/api/deletions/preview');
    expect((await preview({ userId: 'u1' })).answer).toEqual({
      receivers: ['all'],
      notifications: 1,
      disabledEndpoints: 0,
      leftOut: 1,
      disabled: [],
    });
    expect((await preview({ userId: 'u1', sources: ['acme'] })).answer).toMatchObject({ leftOut: 0, notifications: 2 });
    const deletions: unknown[] = [];
    relay.service.audit$.subscribe(({ deletion }) => deletions.push(deletion));
    await relay.service.requestDeletion({ userId: 'u1' });
    expect(deletions).toMatchObject([{ receivers: { all: 1 }, leftOut: 1, disabled: [] }]);
    receiver.statuses = [410];
    await relay.service.accept('wk_acme', [{ type: 'track', userId: 'u2', event: 'Ordered' }]);
    await waitFor(async () => (await relay.service.destinations.get('hook'))!.disabled !== undefined);
    expect((await preview({ userId: 'u1', sources: ['acme'] })).answer).toMatchObject({ disabledEndpoints: 1 });
    await relay.service.destinations.update('hook', { enabled: false });
    expect((await preview({ userId: 'u1' })).answer).toMatchObject({ leftOut: 0, disabled: [] });
    expect((await preview({ userId: 'u1', sources: ['acme'] })).answer).toMatchObject({ disabled: ['hook'] });
  });

  it("purges the user's queued bodies and stored attempts, and nobody else's", async () => {
    receiver.statuses = [400, 400, 400, 400, 200];
    await start({ destinations: [{ name: 'A', urls: [receiver.url] }] });
    const of = (userId: string, messageId: string) => ({ type: 'track', event: 'E', userId, messageId });
    await relay.service.accept('wk_shop', [of('u1', 'm1'), of('u2', 'm2')]);
    await relay.service.accept('wk_app', [of('u1', 'm3'), of('u2', 'm4')]);
    await relay.settled('dead', 4);
    expect(await relay.service.requestDeletion({ userId: 'u1', sources: ['shop'] })).toMatchObject({
      notifications: 1,
      purged: 1,
      refused: 0,
    });
    expect(await relay.service.requestDeletion({ userId: 'u1' })).toMatchObject({ purged: expect.any(Number) });
    await relay.settled('delivered', 2);
    const left = await relay.undelivered();
    expect(left.map(({ messageId }) => messageId).sort()).toEqual(['m2', 'm4']);
  });

  it('purges what waits for a retry', async () => {
    receiver.statuses = [500];
    await start({ destinations: [{ name: 'A', urls: [receiver.url], sources: ['shop'] }] });
    await relay.track('m1');
    await relay.settled('retry');
    receiver.statuses = [200];
    expect(await post({ userId: 'u1' })).toMatchObject({ answer: { notifications: 1, purged: 1 } });
    await relay.settled('delivered');
    expect(receiver.webhooks.map(({ body }) => body.type)).toEqual(['track', 'delete']);
    expect(await relay.undelivered()).toEqual([]);
  });

  it('withdraws what waits for the rate limit: a moment later, it is not sent', async () => {
    await start({ destinations: [{ name: 'A', urls: [receiver.url], rateLimit: { requests: 1, per: 400 } }] });
    const of = (messageId: string) => ({ type: 'track', event: 'E', userId: 'u1', messageId });
    await relay.service.accept('wk_shop', [of('m1'), of('m2'), of('m3')]);
    await receiver.received(1);
    await relay.service.requestDeletion({ userId: 'u1', sources: ['shop'] });
    await relay.service.accept('wk_shop', [{ ...of('m4'), userId: 'u2' }]);
    await receiver.received(3);
    const sent = receiver.webhooks.map(({ body: { type, userId } }) => `${String(type)} ${String(userId)}`);
    expect(sent).toEqual(['track u1', 'delete u1', 'track u2']);
  });

  it('finds what was accepted before the clock was set back', async () => {
    receiver.statuses = [500];
    const folder = await temporaryFolder();
    cleanUp(folder.remove);
    const options = {
      destinations: [{ name: 'A', urls: [receiver.url] }],
      queue: sqliteQueue({ path: folder.path('relay.db') }),
    };
    setClock(60_000);
    await start(options);
    await relay.track('m1');
    await relay.settled('retry');
    await relay.stop();
    vi.restoreAllMocks();
    await start(options);
    expect(await relay.service.requestDeletion({ userId: 'u1', sources: ['shop'] })).toMatchObject({ purged: 1 });
  });

  it('is answered 503 when the notification cannot be stored, and is completed by a repeated request', async () => {
    receiver.statuses = [500];
    const queue = memoryQueue()();
    await start({ destinations: [{ name: 'A', urls: [receiver.url], sources: ['shop'] }], queue: () => queue });
    expect((await post({ userId: 'u1' })).status).toBe(200);
    await relay.settled('retry');
    const [first] = await relay.undelivered();
    await relay.track('m1');
    await relay.settled('retry', 2);
    vi.spyOn(queue, 'add').mockRejectedValueOnce(new Error('disk full'));
    const failed = await post({ userId: 'u1' });
    expect(failed).toMatchObject({ status: 503, answer: { code: 'deletion_failed' } });
    expect(failed.headers.get('retry-after')).toBe('5');
    expect(relay.log.matching(/A deletion failed: disk full/)).toHaveLength(1);
    expect(await relay.undelivered()).toEqual([first]); // of the first deletion, which was acknowledged
    expect(await post({ userId: 'u1' })).toMatchObject({ status: 200, answer: { notifications: 1, purged: 0 } });
    await relay.settled('retry', 3);
    const left = await relay.undelivered();
    expect(left.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['delete', 'delete']);
    expect(left[1]!.id).toBe(first!.id);
  });

  it.each<[string, unknown, string]>([
    ['no user', {}, 'userId'],
    ['an empty user', { userId: '' }, 'userId'],
    ['a number', { userId: 7 }, 'userId'],
    ['no users', { userIds: [] }, 'userId'],
    ['an empty user among others', { userIds: ['u1', ''] }, 'userId'],
    ['an empty user beside others', { userId: '', userIds: ['u1'] }, 'userId'],
    ['users that are no list', { userIds: 'u1' }, 'userId'],
    ['a user that is a list', { userId: ['u1'] }, 'userId'],
    ['too many users', { userIds: Array.from({ length: 1_001 }, (_, index) => `u${index}`) }, 'userIds'],
    ['an unknown source', { userId: 'u1', sources: ['nowhere'] }, 'sources'],
    ['an empty list of sources', { userId: 'u1', sources: [] }, 'sources'],
    ['sources that are no list', { userId: 'u1', sources: 'shop' }, 'sources'],
  ])('is refused with %s', async (_what, body, field) => {
    await start();
    expect(await post(body)).toMatchObject({ status: 400, answer: { field, code: expect.any(String) } });
    expect(await relay.service.stats()).toEqual([]);
  });

  it('is refused when the body is not JSON, or no object', async () => {
    await start();
    expect((await post('{')).status).toBe(400);
    expect((await post('[]')).status).toBe(400);
  });

  it.each<[string, Record<string, string>, object]>([
    ['no content type but JSON', { 'Content-Type': 'text/plain' }, { status: 415, field: 'Content-Type' }],
    ['the type of a form', { 'Content-Type': 'multipart/form-data; boundary=application/json' }, { status: 415 }],
    ['a page of another site as sender', { 'Sec-Fetch-Site': 'cross-site' }, { status: 403, field: 'Sec-Fetch-Site' }],
  ])('is refused with %s', async (_what, headers, { status, ...answer }: { status?: number; field?: string }) => {
    await start();
    const authorization = { Authorization: 'Bearer letmein' };
    const refused = await post({ userId: 'u1' }, { ...authorization, ...headers });
    expect(refused).toMatchObject({
      status,
      answer: { code: expect.any(String), message: expect.any(String), ...answer },
    });
    expect(await relay.service.stats()).toEqual([]);
    const type = { 'Content-Type': 'Application/JSON; charset=utf-8', 'Sec-Fetch-Site': 'same-origin' };
    expect((await post({ userId: 'u1' }, { ...authorization, ...type })).status).toBe(200);
  });

  it.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['another token', { Authorization: 'Bearer letmeim' }],
    ['a write key', { Authorization: `Basic ${Buffer.from('wk_shop:').toString('base64')}` }],
    ['the token in another scheme', { Authorization: `Basic ${Buffer.from('letmein').toString('base64')}` }],
  ])('is refused with %s', async (_what, headers) => {
    await start();
    const { status, answer, headers: answered } = await post({ userId: 'u1' }, headers);
    expect([status, answered.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(answer).toEqual({ code: 'admin_token_wrong', message: expect.any(String), field: 'Authorization' });
    expect(JSON.stringify(answer)).not.toContain('letmein');
    expect(await relay.service.stats()).toEqual([]);
  });

  it.each<[string, AdminOptions]>([
    ['a guard class', { guard: AdministratorGuard }],
    ['a guard', { guard: new AdministratorGuard(new Directory()) }],
  ])('asks %s', async (_what, admin) => {
    await start({ admin });
    expect(await post({ userId: 'u1' }, {})).toMatchObject({ status: 401, answer: { message: 'who are you?' } });
    expect((await post({ userId: 'u1' }, { 'X-User': 'guest' })).status).toBe(403);
    expect((await post({ userId: 'u1' }, { 'X-User': 'root' })).status).toBe(200);
  });

  it('tells a fault of the guard from a failed deletion, and logs it in a limited number of lines', async () => {
    const canActivate = () => {
      throw new Error('jwt malformed');
    };
    await start({ admin: { guard: { canActivate } } });
    const answers = await Promise.all(Array.from({ length: 25 }, () => post({ userId: 'u1' })));
    for (const answer of answers) expect(answer).toMatchObject({ status: 500, answer: { code: 'admin_only' } });
    expect(relay.log.matching(/admin.guard or admin.access failed: jwt malformed/)).toHaveLength(20);
    expect(relay.log.matching(/A deletion failed/)).toEqual([]);
    await relay.stop();
    expect(relay.log.matching(/Similar lines suppressed: 5/)).toHaveLength(2); // of the guard, and of the audit log
  });

  it('has no route without the admin option', async () => {
    await start({ admin: undefined });
    const unknown = await post({ userId: 'u1' }, {}, 'v1/unknown');
    const { status, answer } = await post({ userId: 'u1' });
    expect(status).toBe(404);
    expect(answer).toEqual(JSON.parse(JSON.stringify(unknown.answer).replace('v1/unknown', 'v1/delete')));
  });

  it('follows the prefix of the other routes', async () => {
    await start({ ingest: { prefix: 'collect/v2' } });
    expect((await post({ userId: 'u1' })).status).toBe(404);
    expect((await post({ userId: 'u1' }, undefined, 'collect/v2/delete')).status).toBe(200);
  });
});

describe('requestDeletion', () => {
  const cleanUp = useCleanUps();

  it.each<[string, unknown, RegExp]>([
    ['an empty user', { userId: '' }, /^userId, or each of userIds, must be a non-empty string$/],
    ['no user', {}, /^userId, or each of userIds, must be/],
    ['nothing', undefined, /^a deletion must be an object/],
    ['null', null, /^a deletion must be an object/],
    ['an unknown source', { userId: 'u1', sources: ['nowhere'] }, /^sources must be/],
    ['an unknown field', { userId: 'u1', source: ['shop'] }, /^source is not a field of this request$/],
    ['no source', { userId: 'u1', sources: [] }, /^sources must be a list of 1 to 1000 names of sources$/],
    [
      'too many users',
      { userIds: Array.from({ length: 1_001 }, (_, index) => `u${index}`) },
      /^userIds must be 1000 users at most; this request has 1001$/,
    ],
  ])('refuses %s', async (_what, request, rule) => {
    const relay = await Relay.start({});
    cleanUp(() => relay.stop());
    await expect(relay.service.requestDeletion(request as never)).rejects.toThrow(rule);
    expect(await relay.service.stats()).toEqual([]);
  });

  it('takes 1,000 users at once, with one pass over the queue and notifications in portions', async () => {
    const receiver = await ScriptedReceiver.start(hang);
    cleanUp(() => receiver.stop());
    const queue = memoryQueue()();
    const relay = await Relay.start({
      destinations: ['A', 'B', 'C'].map((name) => ({ name, urls: [receiver.url] })),
      queue: () => queue,
    });
    cleanUp(() => relay.stop());
    await relay.service.accept(
      'wk_shop',
      ['u1', 'u999', 'other'].map((userId) => ({ type: 'track', event: 'E', userId })),
    );
    const add = vi.spyOn(queue, 'add');
    const purge = vi.spyOn(queue, 'purgeBySource');
    const userIds = Array.from({ length: 999 }, (_, index) => `u${index}`);
    const result = await relay.service.requestDeletion({ userId: 'u999', userIds });
    expect(result).toMatchObject({ notifications: 3_000, purged: 6, refused: 0 });
    expect(purge).toHaveBeenCalledTimes(1);
    expect(add.mock.calls.map(([portion]) => portion.length)).toEqual([2_000, 1_000]);
    expect((await queue.list({ userId: 'other' })).length).toBe(3);
    const notified = await queue.list({}, { limit: 10_000 });
    expect(new Set(notified.map(({ userId }) => userId)).size).toBe(1_001);
  });

  it('leaves a notification in the queue when it is asked for several times at once', async () => {
    const receiver = await ScriptedReceiver.start(hang);
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({ destinations: [{ urls: [receiver.url] }] });
    cleanUp(() => relay.stop());
    await Promise.all(Array.from({ length: 5 }, () => relay.service.requestDeletion({ userId: 'u1' })));
    expect((await relay.undelivered()).length).toBeGreaterThanOrEqual(1);
  });

  it('sends nothing of the user that was not under way already', async () => {
    const receiver = await ScriptedReceiver.start(hang);
    cleanUp(() => receiver.stop());
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url] }],
      delivery: { concurrency: 1, timeout: 3_000, initialRetryDelay: 60_000, maxRetryDelay: 60_000 },
    });
    cleanUp(() => relay.stop());
    await relay.track('m1', 'm2', 'm3');
    await waitFor(() => receiver.webhooks.length === 1);
    await relay.service.requestDeletion({ userId: 'u1' });
    await waitFor(() => receiver.webhooks.length === 2);
    expect(receiver.webhooks.map(({ body }) => body.type)).toEqual(['track', 'delete']);
  });
});
