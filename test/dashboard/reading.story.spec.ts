import { AnalyticsModule, AnalyticsService } from 'nestjs-analytics-relay';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { platforms } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { followAudit, READ_TOKEN, track } from '../webhook-destination/admin/api/support.js';
import { countClicks } from './support/clicks.js';
import { useDashboard } from './support/dashboard.harness.js';

const link = (page: Page, name: string) => page.getByRole('main').getByRole('link', { name, exact: true });

(withChromium ? describe : describe.skip).each(platforms)('Who only reads on $platform', ({ createAdapter }) => {
  const { open } = useDashboard();

  it('learns with 3 clicks why an order did not arrive, and can change nothing on any page', async () => {
    const { page, relay, receiver, host } = await open(createAdapter(), {
      token: READ_TOKEN,
      destination: { name: 'crm' },
      hash: '#/live',
    });
    receiver.statuses = [422];
    await relay.accept('wk_shop', [track('order-4711', { userId: 'customer-7', event: 'Order Completed' })]);
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 1);
    const audit = followAudit(relay);
    const clicks = await countClicks(page);

    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('region', { name: 'What needs attention' }).getByRole('link', { name: '1 dead' }).click();
    await page.getByRole('heading', { name: 'Dead deliveries' }).waitFor();
    await link(page, '1').click();
    await link(page, 'Order Completed').waitFor();
    expect(await clicks()).toBe(3);
    await page.getByRole('table').getByText('HTTP 422').waitFor();

    const [{ id } = { id: '' }] = await relay.deliveries({});
    const changing: Record<string, (string | RegExp)[]> = {
      [`deliveries/${id}`]: ['Replay…'],
      dead: ['Replay all…', /^Replay deliveries to crm/],
      destinations: ['New destination'],
      'destinations/crm': ['Edit', 'Pause', 'Disable…', 'Send test…', /^(Set|Rotate) secret…$/, 'Remove…'],
      sources: ['New source…'],
      'sources/shop': ['Rotate write key…', 'Remove…'],
      'users?userId=customer-7': ["Delete the user's data…"],
    };
    for (const [hash, names] of Object.entries(changing)) {
      await page.goto(`${host}/relay/#/${hash}`);
      for (const name of names) {
        const button = page.getByRole('main').getByRole('button', { name, exact: true });
        expect(await button.getAttribute('title')).toBe('Your session is read-only.');
        await button.click({ force: true }); // Playwright would wait until it is enabled
        expect(await page.getByRole('dialog').count()).toBe(0);
      }
    }
    expect(audit).toEqual([]);
  });

  it('learns with 2 clicks which release recorded an order, and with 1 more what else it recorded', async () => {
    const { page, relay, app } = await open(createAdapter(), {
      token: READ_TOKEN,
      metadata: { imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', release: '2.4.1' })] },
      hash: '#/live',
    });
    const analytics = app.get(AnalyticsService);
    analytics.track({ userId: 'customer-7', event: 'Order Completed' });
    analytics.track({ userId: 'customer-8', event: 'Order Paid' });
    await analytics.flush();
    await relay.accept('wk_shop', [track('m3', { event: 'Of Another Sender' })]);
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 3);
    const clicks = await countClicks(page);

    await page.getByRole('navigation').getByRole('link', { name: 'Deliveries' }).click();
    await link(page, 'Order Completed').click();
    await page.locator('.step', { hasText: 'Recorded' }).getByText('by release 2.4.1').waitFor();
    expect(await clicks()).toBe(2);
    await link(page, '2.4.1').click();
    await page.getByText('2 shown (all)').waitFor();
    expect(await clicks()).toBe(3);
    expect((await page.locator('tbody th a').allInnerTexts()).sort()).toEqual(['Order Completed', 'Order Paid']);
  });
});
