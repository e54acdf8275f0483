import { Test } from '@nestjs/testing';
import { AnalyticsModule, AnalyticsService, memoryQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen, onExpress } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { LogLines } from '../support/relay.js';
import { TOKEN } from '../webhook-destination/admin/api/support.js';

describe.each(onExpress)('The release that recorded an event, on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  afterEach(() => vi.unstubAllEnvs());

  async function start(release?: string) {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const testing = await Test.createTestingModule({
      imports: [
        AnalyticsModule.forRoot({ writeKey: 'wk_shop', release }),
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: 'wk_shop' }],
          destinations: [{ urls: [receiver.url] }],
          queue: memoryQueue(),
          delivery: { allowedNetworks: ['127.0.0.0/8'] },
          admin: { token: TOKEN },
        }),
      ],
    })
      .setLogger(new LogLines())
      .compile();
    const app = testing.createNestApplication(createAdapter());
    afterwards(() => app.close());
    const url = await listen(app);
    const find = async (query: string) => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      const response = await fetch(`${url}/relay/api/deliveries?${query}`, { headers });
      const { deliveries } = (await response.json()) as { deliveries: { event: string; release?: string }[] };
      return deliveries.map(({ event, release }) => [event, release]);
    };
    return { url, receiver, find, analytics: app.get(AnalyticsService) };
  }

  it('is that of the option; it is searchable, and is not sent', async () => {
    const { url, receiver, find, analytics } = await start('shop@1.2.3');
    analytics.track({ userId: 'u1', event: 'Recorded' });
    const context = { app: { version: '9.9.9' } };
    const message = { type: 'track', userId: 'u1', event: 'Posted', context, _metadata: { release: 'shop@1.2.3' } };
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ writeKey: 'wk_shop', batch: [message] });
    expect((await fetch(`${url}/v1/batch`, { method: 'POST', headers, body })).status).toBe(200);
    const webhooks = await receiver.received(2);
    expect(await find('release=shop@1.2.3')).toEqual([['Recorded', 'shop@1.2.3']]);
    expect(await find('release=9.9.9')).toEqual([]);
    expect(await find('event=Posted')).toEqual([['Posted', undefined]]);
    expect(JSON.stringify(webhooks)).not.toContain('shop@1.2.3');
    expect(webhooks.find(({ body: { event } }) => event === 'Posted')!.body).toMatchObject({ context });
  });

  it('is the version of the package.json by default, as npm gives it to what it starts', async () => {
    vi.stubEnv('npm_package_version', '4.5.6');
    const { receiver, find, analytics } = await start();
    analytics.track({ userId: 'u1', event: 'Recorded' });
    await receiver.received(1);
    expect(await find('release=4.5.6')).toEqual([['Recorded', '4.5.6']]);
  });

  it('is unknown if neither is given, and a wrong one is named', async () => {
    vi.stubEnv('npm_package_version', undefined);
    const { receiver, find, analytics } = await start();
    analytics.track({ userId: 'u1', event: 'Recorded' });
    await receiver.received(1);
    expect(await find('')).toEqual([['Recorded', undefined]]);
    for (const release of ['', 'x'.repeat(201), 1]) {
      await expect(start(release as string)).rejects.toThrow(/release must be a string of 1 to 200 characters/);
    }
  });
});
