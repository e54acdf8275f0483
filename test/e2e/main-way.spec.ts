import { Body, Controller, Injectable, Module, Post, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AnalyticsModule,
  AnalyticsService,
  sqliteQueue,
  Track,
  verifySignature,
  WebhookDestinationModule,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen, platforms } from '../support/platforms.js';
import { post } from '../support/post.js';
import { Receiver, type ReceivedWebhook } from '../support/receiver.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const SECRET = 'shh, a secret with ünïcode';

interface Order {
  id: string;
  userId: string;
}

@Injectable()
class OrdersService {
  @Track<OrdersService['checkout']>('Order Completed', {
    userId: ({ result }) => result.userId,
    properties: ({ args: [order], result }) => ({ orderId: result.id, note: `für ${order.userId}` }),
  })
  checkout(order: Order): Promise<Order> {
    return Promise.resolve(order);
  }
}

@Controller('orders')
class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  order(@Body() order: Order): Promise<Order> {
    return this.orders.checkout(order);
  }

  @Track('Order Cancelled', { userId: ({ args: [order] }: { args: Order[] }) => order?.userId })
  @Post('cancel')
  cancel(@Body() order: Order): { cancelled: string } {
    return { cancelled: order.id };
  }
}

@Module({ controllers: [OrdersController], providers: [OrdersService] })
class ShopModule {}

describe.each(platforms)('From a decorated method to a signed webhook, on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function startApp(...imports: (Type | ReturnType<typeof AnalyticsModule.forRoot>)[]) {
    const testing = await Test.createTestingModule({ imports }).compile();
    const app = testing.createNestApplication(createAdapter(), { logger: ['error', 'warn'] });
    afterwards(() => app.close());
    return { app, host: await listen(app) };
  }

  async function startReceiver() {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    return receiver;
  }

  async function relayModule(receiver: Receiver) {
    const folder = await temporaryFolder(afterwards);
    return WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations: [{ urls: [receiver.url], headers: { 'X-Env': 'test' }, sharedSecret: SECRET }],
      queue: sqliteQueue({ path: folder.path('relay.db') }),
      delivery: { allowedNetworks: ['127.0.0.0/8'] },
    });
  }

  async function order(host: string) {
    const order = { id: 'o1', userId: 'u1' };
    const ordered = await post(`${host}/orders`, order);
    expect([ordered.status, await ordered.json()]).toEqual([201, order]);
    const cancelled = await post(`${host}/orders/cancel`, order);
    expect([cancelled.status, await cancelled.json()]).toEqual([201, { cancelled: 'o1' }]);
  }

  function expectWebhooks(webhooks: ReceivedWebhook[]) {
    expect(webhooks).toHaveLength(2);
    const byEvent = new Map(webhooks.map((webhook) => [webhook.body.event, webhook]));
    expect(byEvent.get('Order Completed')!.body).toEqual({
      version: 1,
      type: 'track',
      userId: 'u1',
      event: 'Order Completed',
      properties: { orderId: 'o1', note: 'für u1' },
      context: {
        library: { name: 'nestjs-analytics-relay', version: expect.any(String) },
        ip: expect.stringContaining('127.0.0.1'),
        userAgent: expect.stringMatching(/^(node$|Bun\/)/), // that of the run-time's own fetch
        page: { path: '/orders', url: expect.stringMatching(/^http:.*\/orders$/) },
      },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(byEvent.get('Order Cancelled')!.body).toMatchObject({ userId: 'u1', properties: {} });
    for (const { method, path, raw, headers } of webhooks) {
      expect([method, path]).toEqual(['POST', '/hook']);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'nestjs-analytics-relay/1.0',
        'x-env': 'test',
        'x-message-id': expect.any(String),
      });
      expect(verifySignature(raw, headers['x-signature'] as string, SECRET)).toBe(true);
      expect(verifySignature(raw, headers['x-signature'] as string, 'another secret')).toBe(false);
    }
  }

  it('app A collects, app B forwards', async () => {
    const receiver = await startReceiver();
    const relay = await startApp(await relayModule(receiver));
    const shop = await startApp(
      AnalyticsModule.forRoot({ writeKey: 'wk_shop', host: relay.host, flushInterval: 50 }),
      ShopModule,
    );
    await order(shop.host);
    expectWebhooks(await receiver.received(2));
  });

  it('one app does both, without HTTP in between', async () => {
    const receiver = await startReceiver();
    const { app, host } = await startApp(
      AnalyticsModule.forRootAsync({ useFactory: () => ({ writeKey: 'wk_shop', flushInterval: 50 }) }),
      await relayModule(receiver),
      ShopModule,
    );
    const requests: string[] = [];
    app.get(AnalyticsService).on('http_request', ({ url }) => requests.push(url));
    await order(host);
    expectWebhooks(await receiver.received(2));
    expect(requests).toEqual([]);
  });

  it('delivers what is queued when the apps close', async () => {
    const receiver = await startReceiver();
    const { app, host } = await startApp(
      AnalyticsModule.forRoot({ writeKey: 'wk_shop', flushInterval: 60_000 }),
      await relayModule(receiver),
      ShopModule,
    );
    await order(host);
    expect(receiver.webhooks).toHaveLength(0);
    await app.close();
    expectWebhooks(receiver.webhooks);
  });
});
