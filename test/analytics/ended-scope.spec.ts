import { AsyncResource } from 'node:async_hooks';
import type { AddressInfo, Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Controller, Get, Param } from '@nestjs/common';
import { type ClientProxy, ClientProxyFactory, MessagePattern, Payload, Transport } from '@nestjs/microservices';
import { queue } from 'async';
import Bottleneck from 'bottleneck';
import { AnalyticsContext, AnalyticsService, type Message, Track } from 'nestjs-analytics-relay';
import PQueue from 'p-queue';
import { concatMap, defer, firstValueFrom, type Observable, Subject, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { CollectingApp, type CollectingAppOptions } from './support/collecting.app.js';

type Task = () => Promise<void>;

/** Run one task at a time; a task begins in the async context of the one before it. */
const queues: { name: string; varies?: boolean; create: () => (task: Task) => Promise<void> }[] = [
  {
    name: 'p-queue',
    create: () => {
      const tasks = new PQueue({ concurrency: 1 });
      return (task) => tasks.add(task);
    },
  },
  {
    name: 'bottleneck',
    varies: true, // a task may keep its own scope, by timing
    create: () => {
      const tasks = new Bottleneck({ maxConcurrent: 1 });
      return (task) => tasks.schedule(task);
    },
  },
  {
    name: 'async.queue',
    create: () => {
      const tasks = queue(async (task: Task) => task(), 1);
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
  client!: ClientProxy;
  /** Tasks added by requests that wait for them. */
  waiting = 0;
  finish!: () => void;
  readonly finished = new Promise<void>((resolve) => (this.finish = resolve));

  constructor(private readonly analytics: AnalyticsService) {}

  @MessagePattern('echo')
  echo(@Payload() payload: string): string {
    return payload;
  }

  @Get('connect')
  connect(): Observable<unknown> {
    return this.client.send('echo', '');
  }

  @Get('asked/:user')
  async asked(@Param('user') user: string): Promise<void> {
    AnalyticsContext.set({ userId: user });
    const track = (event: string) => () => this.analytics.track({ event, properties: { user } });
    await firstValueFrom(
      this.client.send('echo', user).pipe(tap(track('Bare')), tap(AsyncResource.bind(track('Bound')))),
    );
    track('Awaited')();
  }

  /** Answers before its task ends. */
  @Get('first')
  first(): void {
    void this.add(() => this.finished);
  }

  @Get('bare/:user')
  async bare(@Param('user') user: string): Promise<void> {
    AnalyticsContext.set({ userId: user });
    const done = this.add(() => this.work(user));
    this.waiting++;
    await done;
    this.analytics.track({ event: 'Awaited', properties: { user } });
  }

  @Get('bound/:user')
  async bound(@Param('user') user: string): Promise<void> {
    AnalyticsContext.set({ userId: user });
    const done = this.add(AsyncResource.bind(() => this.work(user)));
    this.waiting++;
    await done;
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

async function start(
  createAdapter: (typeof platforms)[number]['createAdapter'],
  prepare?: CollectingAppOptions['prepare'],
) {
  const collecting = await CollectingApp.start(afterwards, {
    adapter: createAdapter(),
    controllers: [Routes],
    prepare,
  });
  const routes = collecting.app.get(Routes);
  const get = (path: string) => fetch(`${collecting.host}/${path}`).then((response) => response.text());
  return { collecting, routes, get };
}

const NOT_RECORDED = (subject: string) =>
  `warn ${subject} was not recorded: at least one of userId and anonymousId must be a non-empty string. ` +
  'The HTTP request in whose async context the code runs has ended, so its user is not used. If a pool or queue calls ' +
  'this code, wrap the callback in AsyncResource.bind; if it is work that goes on after the response, use ' +
  'AnalyticsContext.run({ userId }, ...)';

describe.each(queues)('A task that $name begins in the scope of another request', ({ create, varies }) => {
  it('records nothing about the user of that request once it has ended, and one warning says what to do', async () => {
    const { collecting, routes, get } = await start(platforms[0]!.createAdapter);
    routes.add = create();
    await get('first');
    const answer = get('bare/u1');
    await waitFor(() => routes.waiting === 1);
    routes.finish();
    await answer;
    const events = await collecting.events();
    const own = ({ event, userId }: Message) => `${event} ${userId}`;
    const recorded = events.map(own).filter((line) => !varies || !/Begun u1|Worked u1/.test(line));
    expect(recorded).toEqual(['Awaited u1']);
    if (varies) return;
    const refused = ['track', 'Routes.decorated'];
    expect(collecting.log.matching(/was not recorded/)).toEqual(refused.map(NOT_RECORDED));
  });

  it('records its own user if it is bound', async () => {
    const { collecting, routes, get } = await start(platforms[0]!.createAdapter);
    routes.add = create();
    await get('first');
    const users = Array.from({ length: 10 }, (_, index) => `u${index}`);
    const answers = users.map((user) => get(`bound/${user}`));
    await waitFor(() => routes.waiting === users.length);
    routes.finish();
    await Promise.all(answers);
    const events = await collecting.events();
    expect(events).toHaveLength(users.length * 2);
    for (const { event, userId, properties } of events) expect([event, userId]).toEqual([event, properties!.user]);
  });
});

describe('What a client of a microservice receives over a connection that another request opened', () => {
  it('is recorded with the user of its own request after an await or in a bound callback, and otherwise not', async () => {
    const { collecting, get } = await start(platforms[0]!.createAdapter, async (app) => {
      app.connectMicroservice({ transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 } });
      await app.startAllMicroservices();
      const { port } = app.getMicroservices()[0]!.unwrap<Server>().address() as AddressInfo;
      const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
      afterwards(() => client.close());
      app.get(Routes).client = client;
    });
    await get('connect');
    const users = Array.from({ length: 10 }, (_, index) => `u${index}`);
    await Promise.all(users.map((user) => get(`asked/${user}`)));
    const events = await collecting.events();
    expect(events.map(({ event }) => event).sort()).toEqual(users.flatMap(() => ['Awaited', 'Bound']).sort());
    for (const { event, userId, properties } of events) expect([event, userId]).toEqual([event, properties!.user]);
    expect(collecting.log.matching(/was not recorded/)).toEqual([NOT_RECORDED('track')]);
  });
});

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
