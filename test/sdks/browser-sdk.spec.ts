import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Response } from 'playwright-core';

import { useCleanUps } from '../support/clean-ups.js';
import { platforms } from '../support/platforms.js';
import { launchChromium, withChromium } from './support/chromium.js';
import { expectWebhooks } from './support/expect-webhooks.js';
import { ShopController } from './support/shop.controller.js';
import { startSignedRelay } from './support/signed-relay.js';

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

  /** Visits the shop and leaves it; answers how the endpoint answered before, by path. */
  async function visit(shop: string, endpoint: string, deliveryStrategy: object): Promise<[string, number][]> {
    const visitor = await browser.newContext();
    afterwards(() => visitor.close());
    const page = await visitor.newPage();
    const answers: Response[] = [];
    page.on('response', (answer) => answers.push(answer));
    await page.goto(`${shop}/shop`);
    const settings = { protocol: 'http', apiHost: `${new URL(endpoint).host}/v1`, deliveryStrategy };
    await page.evaluate(`record(${JSON.stringify(settings)})`);
    await page.goto('about:blank');
    return answers
      .filter((answer) => answer.request().method() === 'POST')
      .map((answer) => [answer.url().replace(`${endpoint}/v1/`, ''), answer.status()] as [string, number])
      .sort();
  }

  describe.each(platforms)('on $platform', ({ createAdapter }) => {
    it.each(strategies)('delivers from the same origin, $strategy', async ({ deliveryStrategy, answersOnPage }) => {
      const { host, receiver } = await startSignedRelay({ createAdapter, afterwards, controllers: [ShopController] });
      const answers = await visit(host, host, deliveryStrategy);
      await expectWebhooks(receiver, webhooksOf(host));
      expect(answers).toEqual(answersOnPage.map((path) => [path, 200]));
    });
  });
});
