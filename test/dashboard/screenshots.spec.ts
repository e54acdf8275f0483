import { readFileSync } from 'node:fs';

import { ExpressAdapter } from '@nestjs/platform-express';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { Receiver } from '../support/receiver.js';
import { refusingUrl } from '../support/scripted-receiver.js';
import { waitFor } from '../support/wait-for.js';
import { track } from '../webhook-destination/admin/api/support.js';
import { useDashboard, writeScreenshot } from './support/dashboard.harness.js';

const IMAGES = ['overview', 'delivery'];
const ORDERS = 240;

// npm run docs:screenshots
(withChromium ? describe : describe.skip)('What they show', () => {
  const { afterwards, open } = useDashboard();

  it('is a relay with a destination that is down, and one that refused an order', async () => {
    const [warehouse, crm] = await Promise.all([Receiver.start(), Receiver.start()]);
    for (const receiver of [warehouse, crm]) afterwards(() => receiver.stop());
    crm.statuses = [...Array<number>(20).fill(200), 500, 404, 200];
    const { page, relay, find } = await open(new ExpressAdapter(), {
      hash: '#/overview',
      browser: { viewport: { width: 1_440, height: 900 } },
      options: {
        destinations: [
          { name: 'warehouse', urls: [warehouse.url], sharedSecret: 'a secret of the warehouse' },
          { name: 'crm', urls: [crm.url], sharedSecret: 'a secret of the CRM, for tests' },
          { name: 'billing', urls: [await refusingUrl()] },
        ],
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 1_000, concurrency: 1 },
      },
    });
    for (let order = 0; order < ORDERS; order++) {
      const properties = { orderId: `order-${order}`, revenue: 42.5, currency: 'EUR' };
      await relay.accept('wk_shop', [
        track(`order-${order}`, { userId: `customer-${order % 40}`, event: 'Order Completed', properties }),
      ]);
    }
    await waitFor(() => warehouse.webhooks.length === ORDERS && crm.webhooks.length > ORDERS);
    await page.reload();
    await page.getByText(/destinations? fails?: billing/).waitFor();
    await page.locator('canvas').first().waitFor();
    await writeScreenshot(page, 'overview');

    const deliveries = await find('state=dead&destination=crm');
    await page.goto(`${page.url().split('#')[0]}#/deliveries/${deliveries[0]!.id}`);
    await page.getByRole('heading', { name: 'Dead' }).waitFor();
    await page.locator('.timeline').getByText('HTTP 404').waitFor();
    await writeScreenshot(page, 'delivery');
  });
});

describe('The pictures of the dashboard in README.md', () => {
  it.each(IMAGES)('are small: %s', (name) => {
    expect(readFileSync(`docs/images/${name}.png`).length).toBeLessThan(150_000);
  });
});
