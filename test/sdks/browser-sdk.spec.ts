import { Test } from '@nestjs/testing';
import type { Browser, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen, platforms } from '../support/platforms.js';
import { startRelayApp } from '../support/relay.app.js';
import { launchChromium, withChromium } from './support/chromium.js';
import { expectWebhooks, SHARED_SECRET } from './support/expect-webhooks.js';
import { ShopController } from './support/shop.controller.js';

const ANONYMOUS_ID: unknown = expect.stringMatching(/^[\w-]{36}$/);

/** What the shop records of a visit, as webhooks. */
function webhooksOf(shop: string): Record<string, unknown>[] {
  const common = {
    anonymousId: ANONYMOUS_ID,
    context: expect.objectContaining({
      library: { name: 'analytics.js', version: expect.any(String) },
      page: expect.objectContaining({ path: '/shop', url: `${shop}/shop` }),
      userAgent: expect.stringContaining('Chrome'),
    }),
  };
  return [
    { ...common, type: 'alias', 'Previous ID': ANONYMOUS_ID, 'User ID': 'u1' },
    { ...common, type: 'identify', userId: 'u1', traits: { plan: 'pro', seats: 5 } },
    {
      ...common,
      type: 'track',
      userId: 'u1',
      event: 'Order Completed',
      properties: { revenue: '39.95' },
      timestamp: '2012-12-02T00:30:12.984Z',
    },
    {
      ...common,
      type: 'page',
      userId: 'u1',
      category: 'Shop',
      name: 'Home',
      properties: expect.objectContaining({ path: '/shop', referrer: '', title: 'Shop', url: `${shop}/shop` }),
    },
    { ...common, type: 'screen', userId: 'u1', name: 'Cart', properties: { items: 2 } },
    { ...common, type: 'group', userId: 'u1', groupId: 'g1', traits: { 'company name': 'Initech' } },
  ];
}

const strategies = [
  {
    strategy: 'immediate',
    deliveryStrategy: { strategy: 'standard' },
    answersOnPage: ['a', 'g', 'i', 'p', 's', 't'],
  },
  {
    strategy: 'batching', // four messages once they are four, the others when the visitor leaves
    deliveryStrategy: { strategy: 'batching', config: { size: 4, timeout: 60_000 } },
    answersOnPage: ['b'],
  },
];

(withChromium ? describe : describe.skip)('@segment/analytics-next in Chromium', () => {
  const afterwards = useCleanUps();
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  /** Visits the shop and leaves it; answers what the endpoint was asked on the page, and how it answered. */
  async function visit(shop: string, endpoint: string, deliveryStrategy: object): Promise<[string, number][]> {
    const visitor = await browser.newContext();
    afterwards(() => visitor.close());
    const page = await visitor.newPage();
    const answers: Response[] = [];
    page.on('response', (answer) => answers.push(answer));
    await page.goto(`${shop}/shop`);
    const metrics = page.waitForResponse(`${endpoint}/v1/m`);
    const settings = { protocol: 'http', apiHost: `${new URL(endpoint).host}/v1`, deliveryStrategy };
    await page.evaluate(`record(${JSON.stringify(settings)})`);
    expect((await metrics).status()).toBe(200);
    await page.goto('about:blank');
    return answers
      .filter((answer) => answer.url().startsWith(`${endpoint}/v1/`) && !answer.url().endsWith('/m'))
      .map((answer): [string, number] => [answer.url().slice(`${endpoint}/v1/`.length), answer.status()])
      .sort();
  }

  describe.each(platforms)('on $platform', ({ createAdapter }) => {
    const destination = { sharedSecret: SHARED_SECRET };

    it.each(strategies)('delivers from the same origin, $strategy', async ({ deliveryStrategy, answersOnPage }) => {
      const { host, receiver } = await startRelayApp(afterwards, createAdapter(), {
        destination,
        metadata: { controllers: [ShopController] },
      });
      const answers = await visit(host, host, deliveryStrategy);
      await expectWebhooks(receiver, webhooksOf(host));
      expect(answers).toEqual(answersOnPage.map((path) => [path, 200]));
    });

    it.each(strategies)('delivers from another origin, $strategy', async ({ deliveryStrategy, answersOnPage }) => {
      const shop = await startShop();
      const { host, receiver } = await startRelayApp(afterwards, createAdapter(), {
        destination,
        options: { ingest: { cors: { origin: [shop] } } },
      });
      const answers = await visit(shop, host, deliveryStrategy);
      await expectWebhooks(receiver, webhooksOf(shop));
      expect(answers).toEqual(answersOnPage.map((path) => [path, 200]));
    });

    it('delivers with the settings that the SDK loads from the relay', async () => {
      const shop = await startShop();
      const { host, receiver } = await startRelayApp(afterwards, createAdapter(), {
        destination,
        options: { ingest: { cors: { origin: [shop] }, prefix: 'collect' } },
      });
      const page = await open(shop);
      await page.evaluate(`recordBySettings('${host}/collect')`);
      const { anonymousId, context, properties, event } = webhooksOf(shop)[2]!;
      await expectWebhooks(receiver, [{ type: 'track', anonymousId, context, event, properties }]);
    });

    it('delivers what a page posts with headers of tracing libraries, and with sendBeacon as JSON', async () => {
      const shop = await startShop();
      const { host, receiver } = await startRelayApp(afterwards, createAdapter(), {
        destination,
        options: { ingest: { cors: { origin: [shop] } } },
      });
      const page = await open(shop);
      const message = { writeKey: 'wk_shop', userId: 'u1', event: 'Order Completed' };
      expect(await page.evaluate(`postTraced('${host}/v1/track', ${JSON.stringify(message)})`)).toBe(200);
      expect(await page.evaluate(`sendBeacon('${host}/v1/t', ${JSON.stringify(message)})`)).toBe(true);
      const webhook = { type: 'track', userId: 'u1', event: 'Order Completed' };
      await expectWebhooks(receiver, [webhook, webhook]);
    });

    async function open(shop: string): Promise<Page> {
      const page = await browser.newPage();
      afterwards(() => page.close());
      await page.goto(`${shop}/shop`);
      return page;
    }

    /** The shop alone, as another application. */
    async function startShop(): Promise<string> {
      const testing = await Test.createTestingModule({ controllers: [ShopController] }).compile();
      const app = testing.createNestApplication(createAdapter());
      afterwards(() => app.close());
      return listen(app);
    }
  });
});
