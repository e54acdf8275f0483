import { once } from 'node:events';

import { Controller, Get, Injectable, Param, Post, UseInterceptors } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  AnalyticsContextInterceptor,
  AnalyticsModule,
  AnalyticsService,
  memoryQueue,
  Track,
  WebhookDestinationModule,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { useCleanUps } from '../support/clean-ups.js';
import { listen, platforms } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { LogLines } from '../support/relay.js';
import { CollectingApp } from './support/collecting.app.js';

@Injectable()
class Invoices {
  constructor(readonly analytics: AnalyticsService) {}

  @Track('Invoice Sent', { userId: 'u1' })
  async send(): Promise<void> {
    await Promise.resolve();
  }
}

@Controller('orders')
class OrdersController {
  constructor(
    private readonly analytics: AnalyticsService,
    private readonly invoices: Invoices,
  ) {}

  @Post(':id')
  @Track('Order Completed', { userId: 'u1' })
  async complete(@Param('id') _id: string): Promise<void> {
    this.analytics.track({ userId: 'u1', event: 'Order Checked' });
    await this.invoices.send();
    this.analytics.track({ userId: 'u1', event: 'Order Stored' });
  }

  @Get(':id/invoice')
  invoice(): void {
    this.analytics.track({ userId: 'u1', event: 'Invoice Seen' });
  }
}

@WebSocketGateway({ path: '/chat' })
class ChatGateway {
  constructor(private readonly analytics: AnalyticsService) {}

  @UseInterceptors(AnalyticsContextInterceptor)
  @SubscribeMessage('send')
  send() {
    this.analytics.track({ userId: 'u1', event: 'Message Sent' });
    return { event: 'sent' };
  }
}

describe.each(platforms)('What recorded an event, on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start() {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const testing = await Test.createTestingModule({
      imports: [
        AnalyticsModule.forRoot({ writeKey: 'wk_shop' }),
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: 'wk_shop' }],
          destinations: [{ urls: [receiver.url] }],
          queue: memoryQueue(),
          delivery: { allowedNetworks: ['127.0.0.0/8'] },
        }),
      ],
      controllers: [OrdersController],
      providers: [Invoices, ChatGateway],
    })
      .setLogger(new LogLines())
      .compile();
    const app = testing.createNestApplication(createAdapter());
    app.setGlobalPrefix('api');
    app.useWebSocketAdapter(new WsAdapter(app));
    afterwards(() => app.close());
    const url = await listen(app);
    const recorders = async () => {
      const deliveries = await app.get(WebhookDestinationService).deliveries();
      return Object.fromEntries(
        deliveries.map(({ body, recordedBy }) => [(JSON.parse(body) as { event: string }).event, recordedBy]),
      );
    };
    return { app, url, receiver, recorders };
  }

  it('is the method with a decorator, or else the route', async () => {
    const { url, receiver, recorders } = await start();
    await fetch(`${url}/api/orders/7`, { method: 'POST' });
    await fetch(`${url}/api/orders/7/invoice`);
    await receiver.received(5);
    expect(await recorders()).toEqual({
      'Order Checked': 'POST /api/orders/:id',
      'Invoice Sent': 'Invoices.send',
      'Order Stored': 'POST /api/orders/:id',
      'Order Completed': 'OrdersController.complete',
      'Invoice Seen': 'GET /api/orders/:id/invoice',
    });
    expect(JSON.stringify(receiver.webhooks.map(({ body }) => body))).not.toContain('Invoices.send');
  });

  it('is the handler of a gateway or microservice', async () => {
    const { url, receiver, recorders } = await start();
    const client = new WebSocket(`${url.replace('http', 'ws')}/chat`);
    afterwards(() => client.terminate());
    await once(client, 'open');
    client.send(JSON.stringify({ event: 'send', data: {} }));
    await receiver.received(1);
    expect(await recorders()).toEqual({ 'Message Sent': 'ChatGateway.send' });
  });

  it('is not known of what no request leads to', async () => {
    const { app, receiver, recorders } = await start();
    app.get(AnalyticsService).track({ userId: 'u1', event: 'Woken' });
    await app.get(Invoices).send();
    await receiver.received(2);
    expect(await recorders()).toEqual({ Woken: undefined, 'Invoice Sent': 'Invoices.send' });
  });

  it('is what a sender says in _metadata, where that is a text', async () => {
    const { app, receiver, recorders } = await start();
    const given = { a: 'größe', b: '', c: 7, d: 'x'.repeat(300), e: { f: 1 } };
    const batch = Object.entries(given).map(([event, recordedBy]) => ({
      type: 'track',
      messageId: event,
      userId: 'u1',
      event,
      _metadata: { recordedBy },
    }));
    await app.get(WebhookDestinationService).accept('wk_shop', batch);
    await receiver.received(batch.length);
    expect(await recorders()).toEqual({ a: 'größe', d: 'x'.repeat(200) });
  });

  it('is not sent to a relay elsewhere', async () => {
    const app = await CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      controllers: [OrdersController],
      providers: [Invoices],
    });
    await fetch(`${app.host}/orders/7`, { method: 'POST' });
    const events = await app.events();
    expect(events).toHaveLength(4);
    for (const { _metadata } of events) expect(_metadata).toEqual({ nodeVersion: process.version });
  });
});
