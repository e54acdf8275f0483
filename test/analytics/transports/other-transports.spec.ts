import { setTimeout as sleep } from 'node:timers/promises';

import { Injectable, UseInterceptors } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import {
  AnalyticsContext,
  AnalyticsContextInterceptor,
  AnalyticsScope,
  AnalyticsService,
  Track,
} from 'nestjs-analytics-relay';
import { defer, lastValueFrom, type Observable, of, timer, toArray } from 'rxjs';
import { mergeMap, tap } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { waitFor } from '../../support/wait-for.js';
import { startProvider } from '../support/recorded.provider.js';

@Injectable()
@UseInterceptors(AnalyticsContextInterceptor)
class Handlers {
  constructor(private readonly analytics: AnalyticsService) {}

  async handle(given: { user: { id: string } }): Promise<void> {
    await sleep(Math.random() * 5);
    this.analytics.track({ event: 'Handled', properties: { user: given.user.id } });
  }
}

@Injectable()
class Jobs {
  isDue = false;

  constructor(private readonly analytics: AnalyticsService) {}

  @AnalyticsScope((job: { userId: string }) => ({ userId: job.userId, context: { queue: 'mail' } }))
  @Track('Job Done')
  async process(job: { userId: string }): Promise<void> {
    await sleep(Math.random() * 5);
    this.analytics.track({ event: 'Step', properties: { user: job.userId } });
  }

  @AnalyticsScope((job: { userId: string }) => ({ userId: job.userId }))
  stream(job: { userId: string }): Observable<number> {
    return defer(() => timer(1)).pipe(
      mergeMap(() => of(1, 2)),
      tap(() => this.analytics.track({ event: 'Streamed', properties: { user: job.userId } })),
    );
  }

  @AnalyticsScope(() => {
    throw new Error('no such job');
  })
  faulty(): string {
    return 'done';
  }

  @AnalyticsScope()
  @Interval(2)
  tick(): void {
    if (!this.isDue) return;
    this.isDue = false;
    AnalyticsContext.set({ userId: 'cron' });
    this.analytics.track({ event: 'Ticked' });
  }
}

const afterwards = useCleanUps();
const users = Array.from({ length: 20 }, (_, index) => `u${index}`);

describe('AnalyticsContextInterceptor', () => {
  it.each(['rmq', 'telegraf'])(
    'opens a scope for the handlers of type %s, each with its first argument',
    async (type) => {
      const { app, target, events } = await startProvider(afterwards, Handlers, {
        options: { identity: (given) => ({ userId: (given.user as { id: string } | undefined)?.id }) },
      });
      const handle = app
        .get(ExternalContextCreator)
        .create(
          target,
          (given) => target.handle(given as { user: { id: string } }),
          'handle',
          undefined,
          undefined,
          undefined,
          undefined,
          undefined,
          type,
        );
      // Clients of brokers call back in the scope that connected them.
      await AnalyticsContext.run({ userId: 'other' }, () => Promise.all(users.map((id) => handle({ user: { id } }))));
      const recorded = await events();
      expect(recorded).toHaveLength(users.length);
      for (const { userId, properties } of recorded) expect(userId).toBe(properties!.user);
    },
  );
});

describe('@AnalyticsScope', () => {
  it('gives the events of each job its own fields, whatever scope surrounds it', async () => {
    const { target, events } = await startProvider(afterwards, Jobs);
    await AnalyticsContext.run({ userId: 'other', anonymousId: 'a1' }, () =>
      Promise.all(users.map((userId) => target.process({ userId }))),
    );
    const recorded = await events();
    expect(recorded).toHaveLength(users.length * 2);
    for (const { event, userId, anonymousId, properties, context } of recorded) {
      expect([anonymousId, context!.queue]).toEqual([undefined, 'mail']);
      if (event === 'Step') expect(userId).toBe(properties!.user);
    }
  });

  it('holds while an Observable runs that the method returned', async () => {
    const { target, events } = await startProvider(afterwards, Jobs);
    await Promise.all(users.map((userId) => lastValueFrom(target.stream({ userId }).pipe(toArray()))));
    const recorded = await events();
    expect(recorded).toHaveLength(users.length * 2);
    for (const { userId, properties } of recorded) expect(userId).toBe(properties!.user);
  });

  it('opens a scope for a scheduled method', async () => {
    const { target, events } = await startProvider(afterwards, Jobs, { imports: [ScheduleModule.forRoot()] });
    target.isDue = true;
    await waitFor(async () => (await events()).length > 0);
    expect(await events()).toMatchObject([{ event: 'Ticked', userId: 'cron' }]);
  });

  it('logs a failure of its function, and calls the method', async () => {
    const { target, log } = await startProvider(afterwards, Jobs);
    expect(target.faulty()).toBe('done');
    expect(log.matching(/AnalyticsScope/)).toEqual([
      'warn The function of @AnalyticsScope() on Jobs.faulty failed: no such job',
    ]);
  });

  it('must be above other analytics decorators, and on an instance method', () => {
    const decorate = (...decorators: MethodDecorator[]) => {
      class Target {
        method(): void {}
      }
      let descriptor = Object.getOwnPropertyDescriptor(Target.prototype, 'method')!;
      for (const one of decorators) descriptor = (one(Target.prototype, 'method', descriptor) as never) ?? descriptor;
    };
    expect(() => decorate(AnalyticsScope(), Track('Done'))).toThrow(
      '@AnalyticsScope() must be above the other analytics decorators',
    );
    expect(() => decorate(Track('Done'), AnalyticsScope())).not.toThrow();
    expect(() => AnalyticsScope()(class {}, 'method', {})).toThrow('needs an instance method');
  });
});

describe('AnalyticsContext.run', () => {
  it('holds while a cold Observable or a generator runs that its function returned', async () => {
    const { analytics, events } = await startProvider(afterwards, Jobs);
    const track = (event: string, user: string) => analytics.track({ event, properties: { user } });
    const streams = users.map((user) =>
      AnalyticsContext.run({ userId: user }, () => timer(Math.random() * 5).pipe(tap(() => track('Cold', user)))),
    );
    const generators = users.map((user) =>
      AnalyticsContext.run({ userId: user }, async function* () {
        await sleep(Math.random() * 5);
        track('Generated', user);
        yield user;
        track('Generated', user);
      }),
    );
    await Promise.all([
      ...streams.map((stream) => lastValueFrom(stream)),
      ...generators.map(async (generator, index) => {
        for await (const user of generator) expect(user).toBe(users[index]);
      }),
    ]);
    const recorded = await events();
    expect(recorded).toHaveLength(users.length * 3);
    for (const { userId, properties } of recorded) expect(userId).toBe(properties!.user);
  });
});
