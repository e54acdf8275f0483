import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Param } from '@nestjs/common';
import { queue } from 'async';
import Bottleneck from 'bottleneck';
import { AnalyticsContext, AnalyticsService, Track } from 'nestjs-analytics-relay';
import PQueue from 'p-queue';
import { concatMap, defer, Subject } from 'rxjs';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { CollectingApp } from './support/collecting.app.js';

type Task = () => Promise<void>;

/** Run one task at a time; a task begins in the async context of the one before it. */
const queues: { name: string; create: () => (task: Task) => Promise<void> }[] = [
  {
    name: 'p-queue',
    create: () => {
      const tasks = new PQueue({ concurrency: 1 });
      return (task) => tasks.add(task);
    },
  },
  {
    name: 'bottleneck',
    create: () => {
      const tasks = new Bottleneck({ maxConcurrent: 1 });
      return (task) => tasks.schedule(task);
    },
  },
  {
    name: 'async.queue',
    create: () => {
      const tasks = queue((task: Task) => task(), 1);
      return (task) => tasks.push(task);
    },
  },
  {
    name: 'a Subject with concatMap',
    create: () => {
      const tasks = new Subject<{ task: Task; done: () => void }>();
      tasks.pipe(concatMap(({ task, done }) => defer(() => task().then(done)))).subscribe();
      return (task) => new Promise((done) => tasks.next({ task, done }));
    },
  },
];

@Controller()
class Routes {
  add!: (task: Task) => Promise<void>;
  finish!: () => void;
  readonly finished = new Promise<void>((resolve) => (this.finish = resolve));

  constructor(private readonly analytics: AnalyticsService) {}

  /** Answers before its task ends. */
  @Get('first')
  first(): void {
    void this.add(() => this.finished);
  }

  @Get('bare/:user')
  async bare(@Param('user') user: string): Promise<void> {
    AnalyticsContext.set({ userId: user });
    await this.add(() => this.work(user));
    this.analytics.track({ event: 'Awaited', properties: { user } });
  }

  @Get('bound/:user')
  async bound(@Param('user') user: string): Promise<void> {
    AnalyticsContext.set({ userId: user });
    await this.add(AsyncResource.bind(() => this.work(user)));
  }

  @Get('sent/:user')
  sent(@Param('user') user: string): string {
    AnalyticsContext.set({ userId: user });
    void this.later(user);
    void this.direct(user);
    void AnalyticsContext.run({ userId: user }, () => this.direct(`run by ${user}`));
    return 'sent';
  }

  private async work(user: string): Promise<void> {
    this.analytics.track({ event: 'Begun', properties: { user } });
    await sleep(2);
    this.decorated(user);
  }

  @Track('Worked', { properties: ({ args: [user] }) => ({ user: user as string }) })
  private decorated(_user: string): void {}

  @Track('Decorated', { properties: ({ args: [user] }) => ({ user: user as string }) })
  private later(_user: string): Promise<void> {
    return this.finished;
  }

  private async direct(user: string): Promise<void> {
    await this.finished;
    this.analytics.track({ event: 'Direct', properties: { user } });
  }
}

const afterwards = useCleanUps();

async function start(createAdapter: (typeof platforms)[number]['createAdapter']) {
  const collecting = await CollectingApp.start(afterwards, { adapter: createAdapter(), controllers: [Routes] });
  const routes = collecting.app.get(Routes);
  const get = (path: string) => fetch(`${collecting.host}/${path}`).then((response) => response.text());
  return { collecting, routes, get };
}

const NOT_RECORDED = (subject: string) =>
  `warn ${subject} was not recorded: at least one of userId and anonymousId must be a non-empty string. ` +
  'The HTTP request in whose async context the code runs has ended, so its user is not used. If a pool or queue calls ' +
  'this code, wrap the callback in AsyncResource.bind; if it is work that goes on after the response, use ' +
  'AnalyticsContext.run({ userId }, ...)';

describe.each(platforms.flatMap((platform) => queues.map((one) => ({ ...platform, ...one }))))(
  'On $platform, a task that $name begins in the scope of another request,',
  ({ createAdapter, create }) => {
    it('records no event with the user of that request once it has ended, and one warning says what to do', async () => {
      const { collecting, routes, get } = await start(createAdapter);
      routes.add = create();
      await get('first');
      const answers = ['u1', 'u2', 'u3'].map((user) => get(`bare/${user}`));
      await sleep(20); // all tasks wait
      routes.finish();
      await Promise.all(answers);
      const events = await collecting.events();
      for (const { event, userId, properties } of events) expect([event, userId]).toEqual([event, properties!.user]);
      expect(events.filter(({ event }) => event === 'Awaited')).toHaveLength(3);
      expect(collecting.log.matching(/was not recorded/)).toEqual([NOT_RECORDED('track')]);
    });

    it('records each user if the task is bound', async () => {
      const { collecting, routes, get } = await start(createAdapter);
      routes.add = create();
      await get('first');
      const users = Array.from({ length: 10 }, (_, index) => `u${index}`);
      const answers = users.map((user) => get(`bound/${user}`));
      await sleep(20);
      routes.finish();
      await Promise.all(answers);
      const events = await collecting.events();
      expect(events).toHaveLength(users.length * 2);
      for (const { event, userId, properties } of events) expect([event, userId]).toEqual([event, properties!.user]);
    });
  },
);

describe.each(platforms)('On $platform, after the response has been sent,', ({ createAdapter }) => {
  it('calls of decorated methods that began before, and scopes of run, keep their user; others have none', async () => {
    const { collecting, routes, get } = await start(createAdapter);
    await get('sent/u1');
    await sleep(20);
    routes.finish();
    await waitFor(() => collecting.log.matching(/was not recorded/).length > 0);
    expect(await collecting.events()).toMatchObject([
      { event: 'Decorated', userId: 'u1' },
      { event: 'Direct', userId: 'u1', properties: { user: 'run by u1' }, context: { library: {} } },
    ]);
    expect(collecting.log.matching(/was not recorded/)).toEqual([NOT_RECORDED('track')]);
  });
});
