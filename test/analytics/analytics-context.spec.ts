import { Injectable } from '@nestjs/common';
import { AnalyticsContext, AnalyticsService, type Message, Track } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { startProvider } from './support/recorded.provider.js';

@Injectable()
class Worker {
  constructor(private readonly analytics: AnalyticsService) {}

  @Track('Job Done')
  async work(job: string): Promise<void> {
    await Promise.resolve();
    this.analytics.track({ event: 'Step', properties: { job } });
  }

  @Track('Told Inside', { properties: ({ args: [userId] }) => ({ userId: userId as string }) })
  async tell(userId: string): Promise<boolean> {
    await Promise.resolve();
    return AnalyticsContext.set({ userId });
  }
}

describe('AnalyticsContext', () => {
  const afterwards = useCleanUps();
  const ids = (messages: { userId?: string; anonymousId?: string }[]) =>
    messages.map(({ userId, anonymousId }) => [userId, anonymousId]);

  it('gives the events of a job its ids and context', async () => {
    const { target, events } = await startProvider(afterwards, Worker);
    const result = AnalyticsContext.run({ userId: 7, groupId: 9n, context: { queue: 'mail' } }, () =>
      target.work('first').then(() => 'done'),
    );
    expect(await result).toBe('done');
    expect(await events()).toMatchObject(
      ['Step', 'Job Done'].map((event) => ({ event, userId: '7', context: { queue: 'mail', groupId: '9' } })),
    );
  });

  it('keeps jobs that run at the same time apart', async () => {
    const { target, events } = await startProvider(afterwards, Worker);
    const users = Array.from({ length: 200 }, (_, index) => `u${index}`);
    await Promise.all(users.map((userId) => AnalyticsContext.run({ userId }, () => target.work(userId))));
    const steps = (await events()).filter(({ event }) => event === 'Step');
    expect(steps).toHaveLength(200);
    expect(steps.every(({ userId, properties }) => userId === properties!.job)).toBe(true);
  });

  it('is set in a call of a decorated method, for that call', async () => {
    const { target, events } = await startProvider(afterwards, Worker);
    expect(await Promise.all(['u1', 'u2'].map((userId) => target.tell(userId)))).toEqual([true, true]);
    expect(AnalyticsContext.get()).toBeUndefined();
    expect(await events()).toMatchObject([
      { userId: 'u1', properties: { userId: 'u1' } },
      { userId: 'u2', properties: { userId: 'u2' } },
    ]);
  });

  it('inherits what surrounds it, but for the ids of somebody else', async () => {
    const { analytics, events } = await startProvider(afterwards, Worker);
    const track = () => analytics.track({ event: 'Nested' });
    AnalyticsContext.run({ userId: 'u1', anonymousId: 'a1', groupId: 'g1', context: { one: 1, two: 1 } }, () => {
      AnalyticsContext.run({ context: { two: 2 } }, track);
      AnalyticsContext.run({ userId: 'u2', groupId: undefined }, track);
      AnalyticsContext.run({ anonymousId: 'a1', groupId: 'g2' }, track);
      expect(AnalyticsContext.get()).toEqual({
        userId: 'u1',
        anonymousId: 'a1',
        groupId: 'g1',
        context: { one: 1, two: 1 },
      });
    });
    const recorded = await events();
    expect(ids(recorded)).toEqual([
      ['u1', 'a1'],
      ['u2', undefined],
      ['u1', 'a1'],
    ]);
    expect(recorded.map(({ context }) => ({ ...context, library: 0 }))).toEqual([
      { groupId: 'g1', one: 1, two: 2, library: 0 },
      { groupId: 'g1', one: 1, two: 1, library: 0 },
      { groupId: 'g2', one: 1, two: 1, library: 0 },
    ]);
  });

  it('adds to the scope what set is given, and leaves the rest', async () => {
    const { analytics, events } = await startProvider(afterwards, Worker);
    AnalyticsContext.run({ userId: 'u1', context: { one: 1 } }, () => {
      AnalyticsContext.set({ userId: null, anonymousId: 'a1', context: { two: 2 } });
      analytics.track({ event: 'Set' });
    });
    expect(await events()).toMatchObject([{ userId: 'u1', anonymousId: 'a1', context: { one: 1, two: 2 } }]);
  });

  it('keeps nothing without a scope, and returns and throws what the function does', () => {
    expect(AnalyticsContext.set({ userId: 'u1' })).toBe(false);
    expect(AnalyticsContext.get()).toBeUndefined();
    expect(AnalyticsContext.run({}, () => 'value')).toBe('value');
    expect(() =>
      AnalyticsContext.run({}, () => {
        throw new Error('thrown');
      }),
    ).toThrow('thrown');
  });

  describe.each([
    ['in a scope', <T>(record: () => T) => AnalyticsContext.run({ userId: 'u1', groupId: 'ambient' }, record)],
    ['outside', <T>(record: () => T) => record()],
  ])('%s', (_where, inScope) => {
    const fields = { event: 'Grouped', userId: 'u1' };

    it('the group of a message is recorded in its context', async () => {
      const { analytics, events } = await startProvider(afterwards, Worker);
      inScope(() => analytics.track({ ...fields, groupId: 'g1' }));
      expect(await events()).toMatchObject([{ context: { groupId: 'g1' } }]);
    });

    it('an empty group counts as missing, and a number is refused', async () => {
      const { analytics, events } = await startProvider(afterwards, Worker);
      const ambient = inScope(() => AnalyticsContext.get())?.groupId;
      inScope(() => analytics.track({ ...fields, groupId: '' }));
      const record = () => inScope(() => analytics.track({ ...fields, groupId: 5 as never }));
      expect(record).toThrow(expect.objectContaining({ field: 'groupId', code: 'group_id_not_string' }));
      const [{ context }] = (await events()) as [Message];
      expect(context!.groupId).toBe(ambient);
    });

    it('a message may be of a class with accessors, and one that throws fails the event', async () => {
      const { analytics, events } = await startProvider(afterwards, Worker);
      class Order {
        event = 'Accessed';
        get userId() {
          return 'u2';
        }
        get properties() {
          return { total: 1 };
        }
      }
      const context = {
        get lazy() {
          throw new Error('not loaded');
        },
      };
      const failed = new Promise((resolve) => inScope(() => analytics.track({ ...fields, context }, resolve)));
      inScope(() => analytics.track(new Order()));
      expect(await failed).toHaveProperty('message', 'context.lazy cannot be read: not loaded');
      expect(await events()).toMatchObject([{ event: 'Accessed', userId: 'u2', properties: { total: 1 } }]);
    });
  });

  it('names an id that is none', () => {
    const run = (fields: object) => () => AnalyticsContext.run(fields, () => undefined);
    expect(run({ userId: {} })).toThrow('userId must be a string or a number');
    expect(run({ groupId: Number.NaN })).toThrow('groupId must be a string or a number');
  });

  it('is that of the call in its callback, which may record further events', async () => {
    const { analytics, events } = await startProvider(afterwards, Worker);
    AnalyticsContext.run({ userId: 'u1' }, () =>
      analytics.track({ event: 'First' }, () => analytics.track({ event: 'Second' })),
    );
    await analytics.flush();
    expect(await events()).toMatchObject([
      { userId: 'u1', event: 'First' },
      { userId: 'u1', event: 'Second' },
    ]);
  });

  it('is not kept by the delivery of the events', async () => {
    const seen: unknown[] = [];
    const { analytics } = await startProvider(afterwards, Worker, {
      options: {
        disable: false,
        httpClient: () => {
          seen.push(AnalyticsContext.get());
          return Promise.resolve(new Response('{}'));
        },
      },
    });
    AnalyticsContext.run({ userId: 'u1' }, () => analytics.track({ event: 'Sent' }));
    await analytics.flush();
    expect(seen).toEqual([undefined]);
  });
});
