import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onFastify } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { READ_TOKEN, track } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';

const HOSTILE = '<script>alert(1)</script>\u202e"\'${x} é😀';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
/** The value beside a name in a list of facts. */
const fact = (page: Page, name: string) => page.locator(`dt:text-is("${name}") + dd`);

(withChromium ? describe : describe.skip).each(onFastify)('Sources on $platform', ({ createAdapter }) => {
  const { open, visit, allowRefusals } = useDashboard();

  const start = (settings: Parameters<typeof open>[1] = {}) =>
    open(createAdapter(), { hash: '#/sources', ...settings, options: { registry: 'store', ...settings.options } });

  const post = async (host: string, writeKey: string, batch: object[]) => {
    const response = await fetch(`${host}/v1/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Basic ${btoa(`${writeKey}:`)}` },
      body: JSON.stringify({ batch }),
    });
    return response.status;
  };

  it('are created, rotated and removed: each key works as long as the page says', async () => {
    allowRefusals(400, 404, 409);
    const { page, host, receiver } = await start();
    await page.getByRole('row').filter({ hasText: 'shop' }).filter({ hasText: 'not in the last day' }).waitFor();
    await button(page, 'New source…').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New source' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('New source…'); // the focus is where it was
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await waitFor(async () => (await page.evaluate('document.activeElement.validity?.valueMissing')) === true);
    await dialog.getByLabel('Name').fill('shop');
    await page.keyboard.press('Enter');
    await dialog.getByText('already exists').waitFor();
    await dialog.getByLabel('Name').fill('app');
    await expectGoodLook(page, 'source-form');
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/relay/api/sources', async (route) => {
      await asked;
      await route.continue();
    });
    // Before the page can show that the request has begun.
    await page.evaluate(`
      document.querySelector('dialog form').requestSubmit();
      document.querySelector('dialog').dispatchEvent(new Event('cancel', { cancelable: true }));`);
    for (let presses = 0; presses < 2; presses++) await page.keyboard.press('Escape'); // the key is still to come
    await button(page, 'Cancel').click({ force: true });
    expect(await button(page, 'Cancel').getAttribute('title')).toBe('A request is in progress.');
    answer();
    const shown = page.getByRole('dialog', { name: 'New write key' });
    const first = (await shown.locator('code').textContent())!;
    expect(first).toMatch(/^wk_/);
    await button(page, 'I have stored it').click();
    expect(await post(host, first, [track('m1')])).toBe(200);
    expect(await receiver.taken(1)).toEqual(['m1']);

    await page.getByRole('link', { name: 'app', exact: true }).click();
    await heading(page, 'app').waitFor();
    expect(await page.content()).not.toContain('wk_');
    await button(page, 'Rotate write key…').click();
    await button(page, 'Rotate').click();
    const second = (await shown.locator('code').textContent())!;
    await expectGoodLook(page, 'source-key');
    await button(page, 'I have stored it').click();
    await fact(page, 'Previous write key').waitFor();
    expect([await post(host, first, [track('m2')]), await post(host, second, [track('m3')])]).toEqual([200, 200]);
    await button(page, 'Rotate write key…').click();
    await page.getByText('An earlier write key is still valid. Rotating again ends it at once').waitFor();
    await page.getByLabel('Overlap, in hours').fill('0');
    await page.getByLabel('New write key').fill(second);
    await button(page, 'Rotate').click();
    await page.getByText('Must differ from the present one.').waitFor();
    await page.getByLabel('New write key').fill('wk_own-s3cret');
    await button(page, 'Rotate').click();
    await fact(page, 'Previous write key').waitFor({ state: 'detached' });
    const statuses = [first, second, 'wk_own-s3cret'].map((key) => post(host, key, [track('m4')]));
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);

    await button(page, 'Remove…').click();
    await page.getByLabel('Type the name to confirm').fill('app');
    await page.keyboard.press('Enter');
    await heading(page, 'Sources').waitFor();
    await page.getByRole('link', { name: 'app', exact: true }).waitFor({ state: 'detached' });
    expect(await post(host, 'wk_own-s3cret', [track('m5')])).toBe(401);
  });

  it('show when they last sent something, how much, and why it was refused', async () => {
    const { page, host } = await start();
    await post(host, 'wk_shop', [track('m1'), track('m2'), { type: 'track', userId: 'u1' }, { type: 'no' }]);
    await post(host, 'wk_other', []);
    await button(page, 'Refresh').click();
    await page.getByRole('row').filter({ hasText: 'shop' }).filter({ hasText: '/min' }).waitFor();
    await page.getByRole('row', { name: 'write_key_unknown 1' }).waitFor();
    await expectGoodLook(page, 'sources');
    await page.getByRole('link', { name: 'shop', exact: true }).click();
    await heading(page, 'shop').waitFor();
    await waitFor(async () => (await fact(page, 'Accepted, last day').textContent()) === '2');
    expect(await fact(page, 'Refused, last day').textContent()).toBe('2');
    expect(await page.getByRole('table', { name: 'Refused by reason' }).getByRole('row').count()).toBe(3);
    await page.getByRole('row').filter({ hasText: '2' }).first().waitFor();
    await expectGoodLook(page, 'source');
  });

  it('of the options, and in a read-only session, cannot be changed', async () => {
    const { page, host, relay } = await start({ hash: '#/sources/shop' });
    await page.getByText("It is set in the application's code. It cannot be changed here.").waitFor();
    for (const name of ['Rotate write key…', 'Remove…']) await button(page, name).click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);

    await relay.sources.create({ name: 'app' });
    const reader = await visit(`${host}/relay/`, { hash: '#/sources/app', token: READ_TOKEN });
    await heading(reader, 'app').waitFor();
    for (const name of ['Rotate write key…', 'Remove…']) {
      expect(await button(reader, name).getAttribute('aria-disabled')).toBe('true');
      await button(reader, name).click({ force: true });
    }
    await reader.goto(`${host}/relay/#/sources`);
    await button(reader, 'New source…').click({ force: true });
    expect(await reader.getByRole('dialog').count()).toBe(0);
  });

  it('show names from outside as text', async () => {
    const { page, relay } = await start();
    await relay.sources.create({ name: HOSTILE });
    await button(page, 'Refresh').click();
    await page.getByRole('link', { name: '<script>alert(1)</script>\\u202e' }).click();
    await page.getByRole('heading', { level: 2, name: 'Status' }).waitFor();
    await expectGoodLook(page, 'source-hostile');
    expect(await page.locator('main').textContent()).not.toContain('\u202e');
  });
});
