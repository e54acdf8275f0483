import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onFastify } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { READ_TOKEN, TOKEN, track } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, signIn, useDashboard } from './support/dashboard.harness.js';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
const ENDED = 'Your session has ended. Sign in again to continue.';

const scrollOf = (page: Page) => page.evaluate<number>('Math.round(scrollY)');

/** Scrolls, and waits until the page has noticed. */
async function scrollTo(page: Page, y: number): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    addEventListener('scroll', () => requestAnimationFrame(resolve), { once: true });
    scrollTo(0, ${y});
  })`);
  expect(await scrollOf(page)).toBe(y);
}

(withChromium ? describe : describe.skip).each(onFastify)(
  'A page left and returned to on $platform',
  ({ createAdapter }) => {
    const { open } = useDashboard();

    it('has its rows, filter and scroll position after Back, as read then, and after a reload', async () => {
      const { page, relay, receiver } = await open(createAdapter(), { hash: '#/deliveries?source=shop' });
      const messages = Array.from({ length: 130 }, (_, index) => track(`m${index}`, { event: `Order ${index}` }));
      await relay.accept('wk_shop', messages);
      await receiver.received(130);
      const delivered = async () => (await relay.stats()).find(({ state }) => state === 'delivered')?.count;
      await waitFor(async () => (await delivered()) === 130);
      await page.reload();
      await page.getByText('50 shown', { exact: true }).waitFor();
      await button(page, 'More').click();
      await page.getByText('100 shown', { exact: true }).waitFor();
      const shown = await page.locator('tbody th a').allInnerTexts();

      await page.locator('tbody th a').nth(70).scrollIntoViewIfNeeded(); // as a click does
      await page.evaluate('new Promise(requestAnimationFrame)');
      const y = await scrollOf(page);
      expect(y).toBeGreaterThan(1_000);
      await page.locator('tbody th a').nth(70).click();
      await heading(page, `Delivery of ${shown[70]!}`).waitFor();
      expect(await scrollOf(page)).toBe(0);
      await relay.accept('wk_shop', [track('late', { event: 'Late' })]);
      await receiver.received(131);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goBack();
      await page.getByText('100 shown', { exact: true }).waitFor();
      await waitFor(async () => (await scrollOf(page)) === y);
      expect(await page.locator('tbody th a').allInnerTexts()).toEqual(shown);
      await page.getByText(/^Read at \d/).waitFor();
      expect(asked.filter((url) => url.includes('api/deliveries?'))).toEqual([]);
      await button(page, 'More').click();
      await page.getByText('130 shown (all)').waitFor(); // from the same cursor

      await scrollTo(page, 1_500);
      await page.reload();
      await page.getByText(/^131 shown/).waitFor(); // all, or the last portion has ended early
      await waitFor(async () => (await scrollOf(page)) === 1_500);
      expect(await page.getByText(/^Read at/).count()).toBe(0);
      expect(page.url()).toContain('source=shop');
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('Order');
    });

    it('has been read again after Back if something was changed meanwhile, and when asked for', async () => {
      const { page, relay, receiver } = await open(createAdapter(), { hash: '#/live' });
      receiver.statuses = [404];
      await relay.accept('wk_shop', [track('m1')]);
      await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 1);
      await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
      await page.getByRole('link', { name: 'Ordered' }).click();
      await page.locator('.verdict').waitFor();
      await page.goBack();
      await page.getByRole('table').getByText('dead', { exact: true }).waitFor();
      await button(page, 'Read again').click();
      await page.getByText(/^Read at/).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Ordered' }).click();
      receiver.statuses = [200];
      await button(page, 'Replay…').click();
      await button(page, 'Replay').click();
      await page.locator('.timeline h3', { hasText: 'Delivered' }).waitFor();
      await page.goBack();
      await page.getByRole('table').getByText('delivered', { exact: true }).waitFor();
      expect(await page.getByText(/^Read at/).count()).toBe(0);
    });

    it('has its live events after Back, and says that some are missing', async () => {
      const { page, relay } = await open(createAdapter(), { hash: '#/live?kind=message' });
      await page.getByText('Live: events of this process only.').waitFor();
      await relay.accept('wk_shop', [track('m1')]);
      await page.getByRole('link', { name: 'm1' }).click();
      await heading(page, 'Deliveries').waitFor();
      await page.goBack();
      await page.getByRole('link', { name: 'm1' }).waitFor();
      await page.getByText('reconnected once, with events missing in between').waitFor();
      await relay.accept('wk_shop', [track('m2')]);
      await page.getByRole('link', { name: 'm2' }).waitFor();
      expect(await page.locator('tbody tr').count()).toBe(2);
    });
  },
);

(withChromium ? describe : describe.skip).each(onFastify)(
  'A form whose session ends on $platform',
  ({ createAdapter }) => {
    const { open, allowRefusals } = useDashboard();

    it('is hidden until the next sign-in, then has all that was typed, and is saved; no secret is stored', async () => {
      allowRefusals(401);
      const { page, relay, receiver } = await open(createAdapter(), {
        hash: '#/destinations?create=true',
        options: { registry: 'store', destinations: [] },
      });
      await page.getByLabel('Name', { exact: true }).fill('crm');
      await page.getByLabel('URL 1').fill(receiver.url);
      await page.getByLabel('Secret', { exact: true }).fill('typed-s3cret');
      await page.getByLabel('Events').fill('Order *');
      await page.context().clearCookies();
      await button(page, 'Create').click();
      await page.getByText(ENDED).waitFor();
      await expectGoodLook(page, 'sign-in-again');
      for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape'); // the page stays hidden
      expect(
        await page.evaluate("getComputedStyle(document.querySelector('dialog'), '::backdrop').backgroundColor"),
      ).toBe(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'));
      const stored = 'JSON.stringify([localStorage, sessionStorage, history.state, location.href])';
      expect(await page.evaluate(stored)).not.toContain('typed-s3cret');

      await page.getByLabel('Admin token').fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByText('This token is wrong.').waitFor();
      await page.getByLabel('Admin token').fill(TOKEN);
      await page.keyboard.press('Enter');
      await page.getByText(ENDED).waitFor({ state: 'detached' });
      expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toBe('typed-s3cret');
      await page.getByText('Your session had ended, so nothing was changed; try again.').waitFor();
      expect(await relay.destinations.get('crm')).toBeUndefined(); // nothing is saved without another click
      await button(page, 'Create').click();
      await heading(page, 'crm').waitFor();
      expect((await relay.destinations.get('crm'))!.events).toEqual(['Order *']);
    });

    it('is not lost in a dialog, and cannot be used by who signs in to read', async () => {
      allowRefusals(401);
      const { page, relay } = await open(createAdapter(), {
        hash: '#/destinations/crm',
        options: { registry: 'store' },
        destination: { name: 'crm' },
      });
      await relay.accept('wk_shop', [track('m1')]);
      await button(page, 'Send test…').click();
      await page.getByLabel('Event').fill('Order Tested');
      await page.context().clearCookies();
      await page.getByText(ENDED).waitFor(); // the page behind asks by itself
      await signIn(page, READ_TOKEN);
      await page.getByText(ENDED).waitFor({ state: 'detached' });
      expect(await page.getByLabel('Event').inputValue()).toBe('Order Tested');
      expect(await button(page, 'Send').getAttribute('title')).toBe('Your session is read-only.');
      await page.keyboard.press('Escape');
      await page.locator('dt:text-is("Delivered") + dd', { hasText: '1' }).waitFor(); // it is read again by itself
    });

    it('goes on when another tab signs in', async () => {
      allowRefusals(401);
      const { page, host } = await open(createAdapter(), { hash: '#/users' });
      await page.getByLabel('User id').fill('customer-7');
      await page.context().clearCookies();
      await page.getByRole('link', { name: 'Sources' }).click();
      await page.getByText(ENDED).waitFor();
      const other = await page.context().newPage();
      await other.goto(`${host}/relay/`);
      await signIn(other, TOKEN);
      await page.getByText(ENDED).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'shop', exact: true }).waitFor();
    });
  },
);
