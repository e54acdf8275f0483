import { connect, type Socket } from 'node:net';

import { Controller, Get, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { AnalyticsService, memoryQueue, Track, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { onFastify } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { waitFor } from '../support/wait-for.js';
import { CollectingApp, type CollectingAppOptions } from './support/collecting.app.js';

@Controller()
class Slow {
  inFlight = 0;
  finish!: () => void;
  private readonly finished = new Promise<void>((resolve) => (this.finish = resolve));

  @Get('slow')
  @Track('Slow Done', { anonymousId: 'a1' })
  async slow(): Promise<string> {
    this.inFlight++;
    await this.finished;
    return 'answered';
  }
}

/** Ends the requests in flight only once the application closes. */
@Injectable()
class FinishAtClose implements OnModuleDestroy {
  constructor(
    private readonly analytics: AnalyticsService,
    private readonly moduleRef: ModuleRef,
  ) {}

  onModuleDestroy(): void {
    this.analytics.track({ event: 'Destroyed', anonymousId: 'a1' });
    setTimeout(() => this.moduleRef.get(Slow).finish(), 20);
  }
}

describe.each(onFastify)('At app.close() on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start(given: CollectingAppOptions = {}) {
    return CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      controllers: [Slow],
      providers: [FinishAtClose],
      ...given,
    });
  }

  /** A request that the application has taken and not answered. */
  async function inFlight({ app, host }: CollectingApp, count = 1): Promise<{ answer: () => string }> {
    let received = '';
    const socket: Socket = connect(Number(new URL(host).port), '127.0.0.1');
    afterwards(() => socket.destroy());
    socket.on('data', (data: Buffer) => (received += data.toString()));
    socket.write('GET /slow HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n');
    await waitFor(() => app.get(Slow).inFlight === count);
    return { answer: () => received };
  }

  it('what is queued is delivered, and what requests record that are still in flight', async () => {
    const collecting = await start();
    const requests = [await inFlight(collecting, 1), await inFlight(collecting, 2)];
    collecting.app.get(AnalyticsService).track({ event: 'Queued', anonymousId: 'a1' });
    await collecting.app.close();
    for (const { answer } of requests) expect(answer()).toMatch(/^HTTP\/1\.1 200 OK[^]*answered$/);
    expect(collecting.collected.map(({ event }) => event)).toEqual(['Queued', 'Destroyed', 'Slow Done', 'Slow Done']);
    expect(collecting.log.matching(/not delivered/)).toEqual([]);
  });

  it('the same holds for events that are forwarded by the same application', async () => {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const collecting = await start({
      options: { host: undefined },
      imports: [
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: 'wk_shop' }],
          destinations: [{ urls: [receiver.url] }],
          queue: memoryQueue(),
          delivery: { allowedNetworks: ['127.0.0.0/8'] },
        }),
      ],
    });
    await inFlight(collecting);
    await collecting.app.close();
    expect(receiver.webhooks.map(({ body }) => body.event).sort()).toEqual(['Destroyed', 'Slow Done']);
  });

  it('no connection of the delivery stays open', async () => {
    const { app, endpoint } = await start();
    const analytics = app.get(AnalyticsService);
    analytics.track({ event: 'Queued', anonymousId: 'a1' });
    await analytics.flush();
    expect(await endpoint.connections()).toBe(1);
    await app.close();
    await waitFor(async () => (await endpoint.connections()) === 0, undefined, 1_000);
  });

  it('what cannot be delivered in time is dropped, counted and logged', async () => {
    const collecting = await start({ options: { shutdownTimeout: 200, maxRetries: 100 } });
    collecting.endpoint.statuses = [503];
    await inFlight(collecting);
    const closing = Date.now();
    await collecting.app.close();
    expect(Date.now() - closing).toBeLessThan(5_000);
    expect(collecting.log.matching(/not delivered/)).toEqual([
      `error Events not delivered to http://127.0.0.1:${collecting.endpoint.port}: 2 (The event was not delivered within the flush timeout of 200 ms)`,
    ]);
  });

  it('what is recorded later is dropped, counted and logged', async () => {
    const collecting = await start();
    const { app, log } = collecting;
    const analytics = app.get(AnalyticsService);
    await app.close();
    analytics.identify({ userId: 'u1' });
    analytics.track({ userId: 'u1', event: 'Late' });
    await waitFor(() => log.matching(/not delivered/).length > 0);
    expect(log.matching(/not delivered/)).toEqual([
      `error Events not delivered to http://127.0.0.1:${collecting.endpoint.port}: 2 (recorded after shutdown)`,
    ]);
  });
});
