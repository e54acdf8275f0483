import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { platforms } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { track } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';
import { BIDI, HOSTILE, SCRIPT } from './support/hostile.js';

const OPEN = 'Live: events of this process only.';

const rows = (page: Page) => page.getByRole('table', { name: 'Live events' }).locator('tbody tr');

/** Numbers of events that the page says it has seen, and that the relay dropped. */
async function counts(page: Page) {
  const text = (await page.locator('.live-state .hint').textContent()) ?? '';
  const count = (words: string) => Number((new RegExp(`([\\d,]+) ${words}`).exec(text)?.[1] ?? '0').replace(',', ''));
  return { seen: count('seen'), missed: count('dropped by the relay') };
}

/** Has the browser believe that its tab is hidden, or shown again. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`);

(withChromium ? describe : describe.skip).each(platforms.slice(0, 1))(
  'Live events on $platform',
  ({ createAdapter }) => {
    const { allowRefusals, open } = useDashboard();

    it('are shown as they happen, as text', async () => {
      const { page, relay, receiver } = await open(createAdapter(), {
        hash: '#/live',
        options: { delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000 } },
      });
      await page.getByText(OPEN).waitFor();
      await page.getByText('No events yet.').waitFor();
      await relay.accept('wk_shop', [track('m1', { event: HOSTILE, userId: `${SCRIPT}${BIDI}` }), { type: 'none' }]);
      await receiver.received(1);
      receiver.statuses = [500, 404];
      await relay.accept('wk_shop', [track('m2')]);
      await rows(page).filter({ hasText: 'attempt 1: HTTP 500' }).waitFor();
      await relay.accept('wk_shop', [track('m3')]);
      await rows(page)
        .filter({ hasText: 'rejected with 404' })
        .or(rows(page).filter({ hasText: /dead/ }))
        .first()
        .waitFor();
      await waitFor(async () => (await rows(page).count()) === 7);
      const kinds = await rows(page).locator('.badge').allTextContents();
      expect(kinds.sort()).toEqual(['accepted', 'accepted', 'accepted', 'dead', 'delivered', 'refused', 'retry']);
      expect(await page.getByText(`${SCRIPT}\\u202e\\u2066`, { exact: true }).count()).toBe(1);
      await expectGoodLook(page, 'live');
      const link = rows(page).getByRole('link', { name: 'm3' }).first();
      expect(await link.getAttribute('href')).toBe('#/deliveries?messageId=m3');
    });

    it('have the whole text of a cell that is cut as its title', async () => {
      const { page, relay } = await open(createAdapter(), { hash: '#/live' });
      await page.getByText(OPEN).waitFor();
      const event = `Ordered ${'again and '.repeat(6)}again`;
      await relay.accept('wk_shop', [track('m1', { event })]);
      await rows(page).getByText(event).hover();
      await page.getByTitle(event, { exact: true }).waitFor();
      await rows(page).getByText('accepted').hover();
      expect(await page.getByTitle('accepted').count()).toBe(0);
    });

    it('pass the filters of the address, which the form sets by keyboard', async () => {
      const { page, relay, host } = await open(createAdapter(), { hash: '#/live?kind=message' });
      await page.getByText(OPEN).waitFor();
      expect(await page.getByLabel('Kind').inputValue()).toBe('message');
      await relay.accept('wk_shop', [track('m1'), track('m2', { event: 'Viewed' })]);
      await waitFor(async () => (await rows(page).count()) === 2);
      await page.getByLabel('Event', { exact: true }).focus();
      await page.keyboard.type('Viewed');
      await page.keyboard.press('Enter');
      await page.getByText('No events yet.').waitFor();
      await page
        .getByText('Outcomes are hidden: only accepted and repeated messages have a type, event and user.')
        .waitFor();
      expect(page.url()).toBe(`${host}/relay/#/live?kind=message&event=Viewed`);
      await page.getByText(OPEN).waitFor();
      await relay.accept('wk_shop', [track('m3'), track('m4', { event: 'Viewed' })]);
      await rows(page).getByText('m4').waitFor();
      expect(await rows(page).count()).toBe(1);
      expect(await page.getByText(/reconnected/).count()).toBe(0);
      await page.getByRole('link', { name: 'Clear' }).click();
      await waitFor(async () => (await page.getByLabel('Event', { exact: true }).inputValue()) === '');
      await page.goto(`${host}/relay/#/live?kind=dead&event=Viewed`);
      await page.getByText('Nothing can match.').waitFor();
      expect(await page.getByRole('link', { name: 'deliveries', exact: true }).getAttribute('href')).toBe(
        '#/deliveries?event=Viewed&state=dead',
      );
      await expectGoodLook(page, 'live-nothing');
    });

    it('say of a repeated message that it is not sent again', async () => {
      const { page, relay } = await open(createAdapter(), { hash: '#/live?kind=duplicate' });
      await page.getByText(OPEN).waitFor();
      await relay.accept('wk_shop', [track('m1'), track('m1')]);
      await rows(page).filter({ hasText: 'not sent again to 1 destination' }).waitFor();
      expect(await rows(page).locator('.badge').allTextContents()).toEqual(['repeated']);
      expect(await rows(page).getByText('Webhooks').count()).toBe(1);
      await page.getByLabel('Kind').selectOption('Repeated');
    });

    it('stop while paused, and are counted', async () => {
      const { page, relay } = await open(createAdapter(), { hash: '#/live?kind=message' });
      await page.getByText(OPEN).waitFor();
      await page.getByRole('button', { name: 'Pause' }).press('Enter');
      await page.getByText('Paused.').waitFor();
      await relay.accept('wk_shop', [track('m1'), track('m2')]);
      await page.getByText('2 seen, the last 0 shown · 2 skipped while paused').waitFor();
      await page.getByText('What happens now is only counted. Resume to see it.').waitFor();
      await page.getByRole('button', { name: 'Resume' }).click();
      await relay.accept('wk_shop', [track('m3')]);
      await rows(page).getByText('m3').waitFor();
      expect(await rows(page).count()).toBe(1);
      await page.getByRole('button', { name: 'Clear the list' }).click();
      await page.getByText('0 seen', { exact: true }).waitFor();
    });

    it('are said to be interrupted, though paused, when the relay has ended', async () => {
      allowRefusals(0);
      const { app, page } = await open(createAdapter(), { hash: '#/live' });
      await page.getByText(OPEN).waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByText('Paused.').waitFor();
      await app.close();
      await page.getByText('The relay does not answer. The page connects again by itself.').waitFor();
      await page.getByText('Events that happen until then are not shown.').waitFor();
    });

    it('are not read while the tab is hidden', async () => {
      const { page, relay } = await open(createAdapter(), { hash: '#/live?kind=message' });
      await page.getByText(OPEN).waitFor();
      const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/relay/api/events'));
      await setHidden(page, true);
      await closed;
      await relay.accept('wk_shop', [track('m1')]);
      await setHidden(page, false);
      await page.getByText(/reconnected once, with events missing in between/).waitFor();
      await relay.accept('wk_shop', [track('m2')]);
      await rows(page).getByText('m2').waitFor();
      expect((await counts(page)).seen).toBe(1);
    });

    it('are shown in part at 2,000 events/s, in batches; the others are counted, and the last 500 kept', async () => {
      const { page, relay } = await open(createAdapter(), { hash: '#/live?kind=message' });
      await page.getByText(OPEN).waitFor();
      await page.evaluate(`renders = 0;
      new MutationObserver(() => renders++).observe(document.querySelector('main'), { childList: true, subtree: true });`);
      const total = 6_000;
      for (let sent = 0; sent < total; sent += 200) {
        const due = new Promise((resolve) => setTimeout(resolve, 100));
        await relay.accept(
          'wk_shop',
          Array.from({ length: 200 }, (_, index) => track(`m${sent + index}`)),
        );
        await due;
      }
      await waitFor(async () => {
        const { seen, missed } = await counts(page);
        return seen + missed === total;
      });
      expect((await counts(page)).seen).toBeGreaterThan(500);
      expect(await rows(page).count()).toBe(500);
      expect(await page.evaluate<number>('renders')).toBeLessThan(total / 10);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByText('Paused.').waitFor();
    });
  },
);
