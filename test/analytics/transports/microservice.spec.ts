import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Injectable,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import {
  ClientProxyFactory,
  Ctx,
  EventPattern,
  MessagePattern,
  Payload,
  RpcException,
  TcpContext,
  Transport,
} from '@nestjs/microservices';
import { AnalyticsContext, AnalyticsContextInterceptor, AnalyticsService, Track } from 'nestjs-analytics-relay';
import { firstValueFrom, lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { CollectingApp } from '../support/collecting.app.js';

interface Order {
  userId: string;
  id: number;
}

/** Knows the user from the message, and puts it on the context of the transport. */
@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const rpc = context.switchToRpc();
    rpc.getContext<{ user?: object }>().user = { id: rpc.getData<Order>().userId };
    return true;
  }
}

@Controller()
class OrdersController {
  constructor(private readonly analytics: AnalyticsService) {}

  @Track('Order Placed', {
    userId: ({ args: [order] }) => (order as Order).userId,
    properties: ({ result }) => ({ result }),
  })
  @MessagePattern('place')
  async place(@Payload() order: Order): Promise<number> {
    AnalyticsContext.set({ anonymousId: 'a1' });
    await Promise.resolve();
    return order.id;
  }

  @MessagePattern('stream')
  @Track('Orders Streamed', { userId: 'u1', properties: ({ result }) => ({ result }) })
  stream(@Payload() _order: Order) {
    return of(1, 2, 3);
  }

  @EventPattern('shipped')
  @Track('Order Shipped', {
    userId: ({ args: [order] }) => (order as Order).userId,
    properties: ({ request }) => ({ request }),
  })
  shipped(@Payload() _order: Order): void {}

  @MessagePattern('fail')
  @Track('Order Failed', {
    on: 'error',
    userId: 'u1',
    properties: ({ error }) => ({ message: (error as Error).message }),
  })
  fail(@Payload() _order: Order): never {
    throw new RpcException('sold out');
  }

  @UseGuards(UserGuard)
  @UseInterceptors(AnalyticsContextInterceptor)
  @MessagePattern('guarded')
  @Track('Guarded', { properties: ({ request, args: [, context] }) => ({ same: request === context }) })
  guarded(@Payload() order: Order, @Ctx() _context: TcpContext): number {
    this.analytics.identify({ traits: { order: order.id } });
    return order.id;
  }
}

describe('A TCP microservice', () => {
  const afterwards = useCleanUps();

  async function start() {
    const app = await CollectingApp.start(afterwards, {
      controllers: [OrdersController],
      prepare: async (host) => {
        host.connectMicroservice({ transport: Transport.TCP, options: { port: 0, host: '127.0.0.1' } });
        await host.startAllMicroservices();
      },
    });
    const server = app.app.getMicroservices()[0]!.unwrap<{ address(): { port: number } }>();
    const client = ClientProxyFactory.create({
      transport: Transport.TCP,
      options: { host: '127.0.0.1', port: server.address().port },
    });
    afterwards(() => client.close());
    return { app, client };
  }

  it('records messages and events, with ids that the mappers tell', async () => {
    const { app, client } = await start();
    const order = { userId: 'u1', id: 7 };
    expect(await firstValueFrom(client.send('place', order))).toBe(7);
    expect(await lastValueFrom(client.send('stream', order).pipe(toArray()))).toEqual([1, 2, 3]);
    await lastValueFrom(client.emit('shipped', order), { defaultValue: undefined });
    expect(
      (await app.eventually(3)).map(({ event, userId, anonymousId, properties }) => [
        event,
        userId,
        anonymousId,
        properties,
      ]),
    ).toEqual([
      ['Order Placed', 'u1', 'a1', { result: 7 }],
      ['Orders Streamed', 'u1', undefined, { result: 3 }],
      ['Order Shipped', 'u1', undefined, {}],
    ]);
  });

  it('records a failure, and answers with it', async () => {
    const { app, client } = await start();
    const answer = firstValueFrom(client.send('fail', { userId: 'u1' }));
    await expect(answer).rejects.toMatchObject({ message: 'sold out' });
    expect(await app.events()).toMatchObject([{ event: 'Order Failed', properties: { message: 'sold out' } }]);
  });

  it('has the user that a guard found, under AnalyticsContextInterceptor, each message its own', async () => {
    const { app, client } = await start();
    const ids = Array.from({ length: 50 }, (_, index) => index);
    const answers = await Promise.all(
      ids.map((id) => firstValueFrom(client.send<number>('guarded', { userId: `u${id}`, id }))),
    );
    expect(answers).toEqual(ids);
    const events = await app.events();
    expect(events).toHaveLength(100);
    const identified = events.filter(({ type }) => type === 'identify');
    expect(identified.map(({ userId }) => userId)).toEqual(identified.map(({ traits }) => `u${traits!.order}`));
    const tracked = events.filter(({ type }) => type === 'track');
    expect(new Set(tracked.map(({ userId }) => userId)).size).toBe(50);
    expect(tracked.every(({ properties }) => properties!.same as boolean)).toBe(true);
  });
});
