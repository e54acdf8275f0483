import { Controller, Get, Injectable, Req } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { type AnalyticsRequest, Track } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { CollectingApp } from '../support/collecting.app.js';

interface Order {
  id: number;
  buyer?: string;
}

@Injectable()
class Listeners {
  readonly heard: Order[] = [];

  @Track('Above', {
    userId: ({ args: [order] }) => (order as Order).buyer,
    properties: ({ args: [order] }) => order as Order,
  })
  @OnEvent('order.placed')
  above(order: Order): void {
    this.heard.push(order);
  }

  @OnEvent('order.placed')
  @OnEvent('order.changed')
  @Track('Below', { userId: ({ args: [order] }) => (order as Order).buyer })
  async below(order: Order): Promise<void> {
    await Promise.resolve();
    this.heard.push(order);
  }
}

@Controller()
class Orders {
  constructor(private readonly emitter: EventEmitter2) {}

  @Get('place')
  place(@Req() request: AnalyticsRequest): void {
    request.user = { id: 'u7' };
    this.emitter.emit('order.placed', { id: 2 });
  }
}

describe.each(platforms)('@OnEvent on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  const start = () =>
    CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      imports: [EventEmitterModule.forRoot()],
      providers: [Listeners],
      controllers: [Orders],
    });

  it('is recorded above and below, once for each event', async () => {
    const app = await start();
    const emitter = app.app.get(EventEmitter2);
    await emitter.emitAsync('order.placed', { id: 1, buyer: 'u1' });
    await emitter.emitAsync('order.changed', { id: 1, buyer: 'u1' });
    expect((await app.events()).map(({ event, userId }) => [event, userId])).toEqual([
      ['Above', 'u1'],
      ['Below', 'u1'],
      ['Below', 'u1'],
    ]);
    expect(app.app.get(Listeners).heard).toHaveLength(3);
  });

  it('has the user and context of the request that emitted it', async () => {
    const app = await start();
    await fetch(`${app.host}/place`);
    expect(await app.eventually(2)).toMatchObject([
      { event: 'Above', userId: 'u7', properties: { id: 2 }, context: { page: { path: '/place' } } },
      { event: 'Below', userId: 'u7' },
    ]);
  });
});
