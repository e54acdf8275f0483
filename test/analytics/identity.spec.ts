import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type INestApplication,
  type ModuleMetadata,
  UseGuards,
} from '@nestjs/common';
import {
  Alias,
  AnalyticsContext,
  type AnalyticsRequest,
  AnalyticsService,
  Group,
  Identify,
  Page,
  Screen,
  Track,
  TrackedEvent,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { CollectingApp, type CollectingAppOptions } from './support/collecting.app.js';

@TrackedEvent('Opened')
class Opened {
  readonly id = 1;
}

/** Records events about somebody else than the request's user. */
@Injectable()
class Admin {
  @Track('Blocked', { userId: 'u2' })
  track(): void {}

  @Identify({ userId: 'u2' })
  identify(): void {}

  @Page('Profile', { userId: 'u2' })
  page(): void {}

  @Screen('Profile', { userId: 'u2' })
  screen(): void {}

  @Group({ userId: 'u2', groupId: 'g2' })
  group(): void {}

  @Alias({ userId: 'u2', previousId: 'p2' })
  alias(): void {}
}

/** What the handler does; each test sets it. */
type Act = (analytics: AnalyticsService, admin: Admin) => unknown;

let act: Act;

@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<AnalyticsRequest>();
    const id = request.headers!['x-user'];
    if (id) request.user = { id };
    return true;
  }
}

@Controller()
@UseGuards(UserGuard)
class Routes {
  constructor(
    private readonly analytics: AnalyticsService,
    private readonly admin: Admin,
  ) {}

  @Get()
  async act(): Promise<void> {
    await act(this.analytics, this.admin);
  }
}

const knowVisitor = (app: INestApplication) =>
  app.use((_request: unknown, _response: unknown, next: () => void) => {
    AnalyticsContext.set({ anonymousId: 'a1' });
    next();
  });

const { run, set } = AnalyticsContext;
const track = (analytics: AnalyticsService, ids: { userId?: string; anonymousId?: string } = {}) =>
  analytics.track({ ...ids, event: 'E' });

const repeat = (call: () => unknown) => Array.from({ length: 20 }, call);

/** Runs it in scopes in each other that all name the visitor. */
const nest = (depth: number, inner: () => void): void =>
  run({ anonymousId: 'a1' }, () => (depth > 1 ? nest(depth - 1, inner) : inner()));

describe('Where a middleware knows the visitor a1', () => {
  const afterwards = useCleanUps();

  /** The ids of what is recorded in one request. */
  async function idsOf(what: Act, user?: string, given: Omit<CollectingAppOptions, keyof ModuleMetadata> = {}) {
    act = what;
    const app = await CollectingApp.start(afterwards, {
      controllers: [Routes],
      providers: [Admin],
      prepare: knowVisitor,
      ...given,
    });
    const response = await fetch(app.host, { headers: user ? { 'x-user': user } : {} });
    expect(response.status).toBe(200);
    return (await app.events()).map(({ userId, anonymousId }) => [userId, anonymousId]);
  }

  const u2 = { userId: 'u2' };
  const others: [string, Act, [string?, string?]][] = [
    ['track', (analytics) => track(analytics, u2), ['u2']],
    ['trackEvent', (analytics) => analytics.trackEvent(new Opened(), u2), ['u2']],
    ['identify', (analytics) => analytics.identify(u2), ['u2']],
    ['page', (analytics) => analytics.page(u2), ['u2']],
    ['screen', (analytics) => analytics.screen(u2), ['u2']],
    ['group', (analytics) => analytics.group({ ...u2, groupId: 'g2' }), ['u2']],
    ['alias', (analytics) => analytics.alias({ ...u2, previousId: 'p2' }), ['u2']],
    ['track, of another visitor', (analytics) => track(analytics, { anonymousId: 'a2' }), [undefined, 'a2']],
    ['@Track', (_, admin) => admin.track(), ['u2']],
    ['@Identify', (_, admin) => admin.identify(), ['u2']],
    ['@Page', (_, admin) => admin.page(), ['u2']],
    ['@Screen', (_, admin) => admin.screen(), ['u2']],
    ['@Group', (_, admin) => admin.group(), ['u2']],
    ['@Alias', (_, admin) => admin.alias(), ['u2']],
    ['run', (analytics) => run(u2, () => track(analytics)), ['u2']],
    ['run, of another visitor', (analytics) => run({ anonymousId: 'a2' }, () => track(analytics)), [undefined, 'a2']],
    ['run, after an await', (analytics) => run(u2, () => Promise.resolve().then(() => track(analytics))), ['u2']],
    ['set', (analytics) => (set(u2), track(analytics)), ['u2']],
    ['a decorator in run', (_, admin) => run({ userId: 'u3' }, () => admin.track()), ['u2']],
  ];
  it.each(others)('%s about somebody else than the request’s user has no ids of that user', async (_how, what, ids) => {
    expect(await idsOf(what, 'u1')).toEqual([[ids[0], ids[1]]]);
  });

  const steps: [string, Act, [string?, string?]][] = [
    ['the request’s user', (analytics) => track(analytics), ['u1', 'a1']],
    ['the request’s user by name', (analytics) => track(analytics, { userId: 'u1' }), ['u1', 'a1']],
    ['the visitor by name', (analytics) => track(analytics, { anonymousId: 'a1' }), ['u1', 'a1']],
    ['run without ids', (analytics) => run({ context: { job: 1 } }, () => track(analytics)), ['u1', 'a1']],
    ['run with the same user', (analytics) => run({ userId: 'u1' }, () => track(analytics)), ['u1', 'a1']],
    [
      'run with somebody else and their visitor',
      (analytics) => run({ ...u2, anonymousId: 'a2' }, () => track(analytics)),
      ['u2', 'a2'],
    ],
    [
      'run with somebody else, and in it with their visitor',
      (analytics) => run(u2, () => run({ anonymousId: 'a2' }, () => track(analytics))),
      ['u2', 'a2'],
    ],
    ['run with somebody else, and in it again', (analytics) => run(u2, () => run(u2, () => track(analytics))), ['u2']],
    ['set with both ids', (analytics) => (set({ ...u2, anonymousId: 'a2' }), track(analytics)), ['u2', 'a2']],
    [
      'set with somebody else, then with the visitor',
      (analytics) => (set(u2), set({ anonymousId: 'a1' }), track(analytics)),
      ['u2', 'a1'],
    ],
    [
      'set with two people after each other',
      (analytics) => (set({ ...u2, anonymousId: 'a2' }), set({ userId: 'u3' }), track(analytics)),
      ['u3'],
    ],
  ];
  it.each(steps)('%s: each step is completed by those before it', async (_how, what, ids) => {
    expect(await idsOf(what, 'u1')).toEqual([[ids[0], ids[1]]]);
  });

  it.each<[string, Act]>([
    ['identify', (analytics) => analytics.identify(u2)],
    ['track', (analytics) => track(analytics, u2)],
    ['run', (analytics) => run(u2, () => track(analytics))],
    ['set', (analytics) => (set(u2), track(analytics))],
  ])('a user whom %s names joins the visitor, where nobody is signed in', async (_how, what) => {
    expect(await idsOf(what)).toEqual([['u2', 'a1']]);
  });

  it('the identity option is about the request’s user alone', async () => {
    const identity = () => ({ anonymousId: 'i1' });
    const nested: Act = (analytics) => run({ userId: 'u1' }, () => (track(analytics), run(u2, () => track(analytics))));
    expect(await idsOf(nested, undefined, { options: { identity }, prepare: () => undefined })).toEqual([
      ['u1', 'i1'],
      ['u2', undefined],
    ]);
  });

  it.each<[string, Act]>([
    ['the visitor', (analytics) => (repeat(() => set({ anonymousId: 'a1' })), track(analytics))],
    ['the user', (analytics) => (repeat(() => set({ userId: 'u1' })), track(analytics))],
    [
      'the visitor and the user in turns',
      (analytics) => (repeat(() => (set({ anonymousId: 'a1' }), set({ userId: 'u1' }))), track(analytics)),
    ],
    ['the visitor in scopes in each other', (analytics) => nest(20, () => track(analytics))],
  ])('%s may be named any number of times', async (_how, what) => {
    expect(await idsOf(what, 'u1')).toEqual([['u1', 'a1']]);
  });

  it('another visitor than before is another person, whom no signed-in user joins', async () => {
    expect(await idsOf((analytics) => (set({ anonymousId: 'a2' }), track(analytics)), 'u1')).toEqual([
      [undefined, 'a2'],
    ]);
  });

  it.each<[string, Act, [string?, string?]]>([
    [
      'set with the user, then with the visitor',
      (it) => (set(u2), set({ anonymousId: 'a2' }), track(it)),
      ['u2', 'a2'],
    ],
    [
      'set with the visitor, then with the user',
      (it) => (set({ anonymousId: 'a2' }), set(u2), track(it)),
      ['u2', 'a2'],
    ],
    [
      'set with the user, and a message of the visitor',
      (it) => (set(u2), track(it, { anonymousId: 'a2' })),
      ['u2', 'a2'],
    ],
    ['set with the visitor', (it) => (set({ anonymousId: 'a2' }), track(it)), [undefined, 'a2']],
    ['set with the user', (it) => (set(u2), track(it)), ['u2', 'i1']],
  ])('%s counts before the visitor of the identity option', async (_how, what, ids) => {
    const identity = () => ({ anonymousId: 'i1' });
    expect(await idsOf(what, undefined, { options: { identity }, prepare: () => undefined })).toEqual([
      [ids[0], ids[1]],
    ]);
  });

  it('a scope names one person after the other, for as long as it lives', async () => {
    const names: Act = (analytics) => {
      for (let index = 0; index < 100; index++) {
        set({ userId: `u${index}`, anonymousId: `a${index}` });
        track(analytics);
        set({ userId: `v${index}` });
        track(analytics);
        set({ anonymousId: `b${index}` });
        track(analytics);
      }
      expect(AnalyticsContext.get()).toMatchObject({ userId: 'v99', anonymousId: 'b99' });
    };
    const expected = Array.from({ length: 100 }, (_, index) => [
      [`u${index}`, `a${index}`],
      [`v${index}`, undefined],
      [`v${index}`, `b${index}`],
    ]);
    expect(await idsOf(names, 'u1', { options: { maxEventsInBatch: 1_000 } })).toEqual(expected.flat());
  });
});
