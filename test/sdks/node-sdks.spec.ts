import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { Analytics as SegmentAnalytics } from '@segment/analytics-node';
import ClassicAnalytics from 'analytics-node';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { startRelayApp } from '../support/relay.app.js';
import { expectWebhooks, SHARED_SECRET } from './support/expect-webhooks.js';

const writeKey = 'wk_shop';

const sdks = [
  {
    sdk: '@segment/analytics-node',
    library: '@segment/analytics-node',
    start: (host: string) => {
      const analytics = new SegmentAnalytics({ writeKey, host });
      return { analytics, finish: () => analytics.closeAndFlush() };
    },
  },
  {
    sdk: 'analytics-node',
    library: 'analytics-node',
    start: (host: string) => {
      const analytics = new ClassicAnalytics(writeKey, { host });
      return { analytics, finish: () => analytics.flush() };
    },
  },
  {
    sdk: '@rudderstack/rudder-sdk-node', // gzips, and labels its JSON as a form
    library: 'analytics-node',
    start: (host: string) => {
      const analytics = new RudderAnalytics(writeKey, { dataPlaneUrl: host });
      return { analytics, finish: () => analytics.flush() };
    },
  },
];

describe.each(platforms)('On $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it.each(sdks)('$sdk reaches the receiver, unmodified', async ({ start, library }) => {
    const { host, receiver } = await startRelayApp(afterwards, createAdapter(), {
      destination: { sharedSecret: SHARED_SECRET },
    });
    const { analytics, finish } = start(host);
    analytics.identify({ userId: 'u1', traits: { plan: 'pro', seats: 5 } });
    analytics.track({
      userId: 'u1',
      event: 'Order Completed',
      properties: { revenue: '39.95' },
      timestamp: new Date('2012-12-02T00:30:12.984Z'),
    });
    analytics.page({
      userId: 'u1',
      category: 'Shop',
      name: 'Home',
      properties: { path: '/', referrer: '', title: 'Shop', url: 'https://shop.example/' },
    });
    analytics.screen({
      anonymousId: 'a1',
      name: 'Cart',
      properties: { items: 2 },
      context: { os: { name: 'iOS', version: '17' } },
    });
    analytics.group({ userId: 'u1', groupId: 'g1', traits: { 'company name': 'Initech' } });
    analytics.alias({ userId: 'u2', previousId: 'u1' });
    await finish();

    const context: unknown = expect.objectContaining({ library: { name: library, version: expect.any(String) } });
    await expectWebhooks(receiver, [
      { type: 'identify', userId: 'u1', traits: { plan: 'pro', seats: 5 }, context },
      {
        type: 'track',
        userId: 'u1',
        event: 'Order Completed',
        properties: { revenue: '39.95' },
        timestamp: '2012-12-02T00:30:12.984Z',
        context,
      },
      {
        type: 'page',
        userId: 'u1',
        category: 'Shop',
        name: 'Home',
        // one of the SDKs repeats the category here
        properties: expect.objectContaining({ path: '/', referrer: '', title: 'Shop', url: 'https://shop.example/' }),
        context,
      },
      {
        type: 'screen',
        anonymousId: 'a1',
        name: 'Cart',
        properties: { items: 2 },
        context: expect.objectContaining({ os: { name: 'iOS', version: '17' } }),
      },
      { type: 'group', userId: 'u1', groupId: 'g1', traits: { 'company name': 'Initech' }, context },
      { type: 'alias', 'Previous ID': 'u1', 'User ID': 'u2', context },
    ]);
  });
});
