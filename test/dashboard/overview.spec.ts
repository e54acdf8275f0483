import { AnalyticsModule, AnalyticsService, memoryQueue } from 'nestjs-analytics-relay';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { platforms } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { waitFor } from '../support/wait-for.js';
import { track } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';
import { HOSTILE } from './support/hostile.js';

const messages = (count: number) => Array.from({ length: count }, (_, index) => track(`m${index}`));

/** The value of a figure, by its name. */
const figure = (page: Page, name: string) =>
  page
    .locator('.figure', { has: page.getByText(name, { exact: true }) })
    .locator('dd')
    .first();

(withChromium ? describe : describe.skip).each(platforms.slice(0, 1))(
  'The overview on $platform',
  ({ createAdapter }) => {
    const { afterwards, open } = useDashboard();

    it('shows counts, what is down and lost, and charts with their tables', async () => {
      const failing = await Receiver.start();
      afterwards(() => failing.stop());
      failing.statuses = [500];
      const healthy = await Receiver.start();
      afterwards(() => healthy.stop());
      const refusing = await Receiver.start();
      afterwards(() => refusing.stop());
      refusing.statuses = [404];
      const { page, relay, app, get } = await open(createAdapter(), {
        options: {
          destinations: [
            { name: 'crm', urls: [healthy.url] },
            { name: 'billing & invoices', urls: [failing.url] },
            { name: HOSTILE, urls: [refusing.url] },
          ],
          delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000 },
        },
        metadata: { imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', maxQueueSize: 1 })] },
      });
      await page.getByText('The queue has no deliveries.').waitFor();
      const analytics = app.get(AnalyticsService);
      for (let index = 0; index < 3; index++) analytics.track({ userId: 'u1', event: 'Ordered' });
      await analytics.flush();
      await relay.accept('wk_shop', [...messages(20), { type: 'none' }]);
      await relay.accept('wk_shop', messages(3));
      await waitFor(async () => {
        const { counts, recent, down } = await get('overview');
        const isCounted = (counts as Record<string, number>).dead === 21;
        return isCounted && recent.delivered === 21 && recent.dead === 21 && (down as number) > 0;
      });
      await page.reload();
      await expect(figure(page, 'Dead').textContent()).resolves.toBe('21');
      await expect(figure(page, 'Refused').textContent()).resolves.toBe('1');
      await expect(figure(page, 'Received').textContent()).resolves.toBe('25');
      await expect(figure(page, 'Repeated').textContent()).resolves.toBe('3');
      await expect(figure(page, 'Lost before ingest').textContent()).resolves.toBe('2');
      expect(await figure(page, 'To deliver').getByRole('link').getAttribute('href')).toBe(
        '#/destinations?sort=backlog',
      );
      await page.getByText(/^2 destinations fail: billing & invoices, /).waitFor();
      await page.getByText('one delivery probes it, the others wait').waitFor();
      await page.locator('.chart canvas').nth(1).waitFor();
      await page.getByRole('region', { name: 'Messages and deliveries by time' }).getByText('21').first().waitFor();
      expect(await page.getByText(HOSTILE.replace('\u202e', '\\u202e').replace('\u2066', '\\u2066')).count()).toBe(3);
      await expectGoodLook(page, 'overview');
      await page.setViewportSize({ width: 1280, height: 900 });
      const hidden = `Math.max(...[...document.querySelectorAll('.chart-and-table .table-frame')].map(
        (frame) => frame.scrollWidth - frame.clientWidth))`;
      await waitFor(async () => (await page.evaluate(hidden)) === 0);
      const links = page.getByRole('table', { name: 'Deliveries by destination and state' }).getByRole('link');
      const hrefs = await Promise.all((await links.all()).map((link) => link.getAttribute('href')));
      expect(hrefs).toContain('#/deliveries?state=delivered&destination=crm');
      expect(hrefs).toContain(
        `#/deliveries?${new URLSearchParams({ state: 'dead', destination: HOSTILE }).toString()}`,
      );
    });

    it('says beside each destination what is wrong with it, or why it is sent nothing', async () => {
      const { page, relay, receiver } = await open(createAdapter(), {
        options: {
          registry: 'store',
          destinations: [],
          delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000 },
        },
        hash: '#/unknown',
      });
      receiver.statuses = [404];
      for (const name of ['dying', 'paused', 'disabled', 'removed']) {
        await relay.destinations.create({ name, urls: [receiver.url] });
      }
      await relay.accept('wk_shop', messages(1));
      await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 4);
      await relay.destinations.pause('paused');
      await relay.destinations.update('disabled', { enabled: false });
      await relay.destinations.remove('removed');
      await page.getByRole('link', { name: 'Overview', exact: true }).click();
      const table = page.getByRole('table', { name: 'Deliveries by destination and state' });
      await table.getByText('failing').waitFor();
      const words = await table.getByRole('rowheader').allTextContents();
      expect(words.sort()).toEqual(['disabled disabled', 'dying failing', 'paused paused', 'removed removed']);
    });

    it('shows the last day, and one destination, as the address says', async () => {
      const { page, relay, receiver } = await open(createAdapter(), { hash: '#/overview?period=day' });
      await relay.accept('wk_shop', messages(3));
      await receiver.received(3);
      const table = page.getByRole('region', { name: 'Messages and deliveries by time' });
      await page.reload();
      expect(await page.getByLabel('Period').inputValue()).toBe('day');
      await page.getByLabel('Destination', { exact: true }).fill('Webhooks');
      await page.keyboard.press('Enter');
      await table.getByRole('row').nth(1).waitFor();
      expect(page.url()).toContain('#/overview?destination=Webhooks&period=day');
      await page.getByLabel('Period').focus();
      await page.keyboard.press('ArrowUp');
      await waitFor(() => page.url().endsWith('#/overview?destination=Webhooks&period=hour'));
      expect(await page.evaluate('document.activeElement.value')).toBe('hour');
    });

    it('shows the last hour of the relay, whatever the clock of the browser', async () => {
      const { page, host, relay, receiver } = await open(createAdapter(), { hash: '#/unknown' });
      await relay.accept('wk_shop', messages(3));
      await receiver.received(3);
      await page.clock.install({ time: Date.now() + 2 * 60 * 60_000 });
      await page.goto(`${host}/relay/#/overview`);
      await page.getByRole('region', { name: 'Messages and deliveries by time' }).getByRole('row').nth(1).waitFor();
    });

    it('asks again by itself in requests that do not extend the session', async () => {
      const { page, host } = await open(createAdapter(), { hash: '#/unknown' });
      const next = async () => (await page.waitForRequest('**/relay/api/overview')).headers()['x-relay-poll'];
      const first = next();
      await page.goto(`${host}/relay/#/overview`);
      expect([await first, await next()]).toEqual([undefined, '1']);
    });

    it('says that the relay does not answer, also while the connection stays open', async () => {
      const { page } = await open(createAdapter());
      await page.getByText('The queue has no deliveries.').waitFor();
      await page.clock.install();
      await page.route('**/relay/api/overview', () => undefined);
      await page.waitForRequest('**/relay/api/overview');
      await page.clock.fastForward(31_000);
      await page.getByText('The relay did not answer; check that it is running, then try again.').waitFor();
      await page.unroute('**/relay/api/overview');
      await page.getByRole('alert').waitFor({ state: 'detached' });
    });

    it('stays quick with 2,000 destinations', async () => {
      const receiver = await Receiver.start();
      afterwards(() => receiver.stop());
      const { page, relay, host } = await open(createAdapter(), {
        options: {
          queue: memoryQueue(),
          destinations: Array.from({ length: 2_000 }, (_, index) => ({
            name: `customer ${index}`,
            urls: [receiver.url],
          })),
          delivery: { allowedNetworks: ['127.0.0.0/8'] },
        },
        hash: '#/unknown',
      });
      await relay.accept('wk_shop', messages(1));
      await receiver.received(2_000);
      await page.goto(`${host}/relay/#/overview`);
      await page
        .getByText(
          'Showing the 25 destinations that most need attention. The 1,975 others have ' +
            '0 queued, 0 delivering, 0 waiting, 1,975 delivered, 0 dead: all destinations.',
        )
        .waitFor();
      const table = page.getByRole('table', { name: 'Deliveries by destination and state' });
      expect(await table.locator('tbody tr').count()).toBe(25);
      const field = page.getByLabel('Destination', { exact: true });
      await field.pressSequentially('MER 1999');
      await page.locator('datalist option[value="customer 1999"]').waitFor({ state: 'attached' });
      expect(await page.locator('datalist option').count()).toBe(1);
      await field.fill('customer 1999');
      await field.press('Enter');
      await waitFor(() => page.url().endsWith('#/overview?destination=customer+1999&period=hour'));
      expect(await field.inputValue()).toBe('customer 1999');
      const spans = page.getByRole('region', { name: 'Messages and deliveries by time' });
      await spans.getByRole('row').nth(1).waitFor();
      await page.getByRole('link', { name: 'all destinations' }).click();
      await page.getByLabel('Name', { exact: true }).fill('MER 1999');
      await page.keyboard.press('Enter');
      await waitFor(async () => (await page.getByRole('table').locator('tbody tr').count()) === 1);
      await page.getByRole('link', { name: 'customer 1999' }).waitFor();
    });
  },
);
