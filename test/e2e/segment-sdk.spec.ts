import { describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { Analytics } from '@segment/analytics-node';
import { sqliteQueue, verifySignature, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { useCleanUps } from '../support/clean-ups.js';
import { listen, platforms } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe.each(platforms)('@segment/analytics-node on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('reaches the receiver, unmodified', async () => {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const folder = await temporaryFolder();
    afterwards(folder.remove);
    const testing = await Test.createTestingModule({
      imports: [
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: 'wk_shop' }],
          destinations: [{ urls: [receiver.url], sharedSecret: 'shh' }],
          queue: sqliteQueue({ path: folder.path('relay.db') }),
          delivery: { allowedNetworks: ['127.0.0.0/8'] },
        }),
      ],
    }).compile();
    const app = testing.createNestApplication(createAdapter());
    afterwards(() => app.close());
    const host = await listen(app);

    const analytics = new Analytics({ writeKey: 'wk_shop', host });
    analytics.identify({ userId: 'u1', traits: { plan: 'pro' } });
    analytics.track({ userId: 'u1', event: 'Order Completed', properties: { total: 42 } });
    analytics.page({ userId: 'u1', name: 'Home', properties: { url: 'https://shop.example/' } });
    analytics.screen({ userId: 'u1', name: 'Cart' });
    analytics.group({ userId: 'u1', groupId: 'g1', traits: { name: 'Initech' } });
    analytics.alias({ userId: 'u2', previousId: 'u1' });
    await analytics.closeAndFlush();

    const webhooks = await receiver.received(6);
    expect(webhooks.map(({ body }) => body.type).sort()).toEqual([
      'alias',
      'group',
      'identify',
      'page',
      'screen',
      'track',
    ]);
    for (const { raw, headers } of webhooks) {
      expect(verifySignature(raw, headers['x-signature'] as string, 'shh')).toBe(true);
    }
  });
});
