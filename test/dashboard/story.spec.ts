import type { AuditEntry } from 'nestjs-analytics-relay';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { platforms } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { waitFor } from '../support/wait-for.js';
import { READ_TOKEN, startApi, track } from '../webhook-destination/admin/api/support.js';
import { useDashboard } from './support/dashboard.harness.js';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** The operator opens a destination, sets a URL of another receiver, who gets a new secret, and sends it a test. */
async function correctUrl(page: Page, name: string, url: string): Promise<void> {
  await page.getByRole('link', { name: 'Destinations' }).click();
  await page.getByRole('table').getByRole('link', { name, exact: true }).click();
  await button(page, 'Edit').click();
  await button(page, 'Replace URLs').click();
  await page.getByLabel('URL 1').fill(url);
  await button(page, 'Save').click();
  await button(page, 'I have stored it').click();
  await button(page, 'Send test…').click();
  const dialog = page.getByRole('dialog', { name: 'Send a test' });
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await dialog.getByRole('status').filter({ hasText: 'success' }).waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
}

(withChromium ? describe : describe.skip).each(platforms)('An order that failed on $platform', ({ createAdapter }) => {
  const { afterwards, visit } = useDashboard();

  /** With an order of `customer-7` that its receiver answered 500, and then 404; its customer's new receiver works. */
  async function startWithFailed() {
    const api = await startApi(afterwards, createAdapter(), {
      options: {
        registry: 'store',
        destinations: [],
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 100 },
      },
    });
    const { relay, receiver } = api;
    await relay.destinations.create({ name: 'crm', urls: [receiver.url] });
    receiver.statuses = [500, 404];
    await relay.accept('wk_shop', [track('order-1', { userId: 'customer-7', event: 'Order Completed' })]);
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 1);
    const audit: AuditEntry[] = [];
    relay.audit$.subscribe((entry) => audit.push(entry));
    const mended = await Receiver.start();
    afterwards(() => mended.stop());
    return { api, mended, audit, url: `${api.host}/relay/` };
  }

  it('is found by its user, explained, replayed to the corrected URL and delivered; the audit names each step', async () => {
    const { api, mended, audit, url } = await startWithFailed();
    const page = await visit(url, { hash: '#/deliveries' });
    const openOrder = async () => {
      await page.getByLabel('User').fill('customer-7');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Order Completed' }).click();
    };
    await openOrder();

    const step = (title: string) =>
      page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) });
    await step('Attempt 1').getByText('HTTP 500').waitFor();
    await step('Attempt 2').getByText('HTTP 404').waitFor();
    await step('Dead').getByText('every URL failed permanently').waitFor();

    await correctUrl(page, 'crm', mended.url);
    await mended.received(1);

    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await openOrder();
    await button(page, 'Replay…').click();
    await page.getByRole('dialog').getByText(mended.url).waitFor();
    await button(page, 'Replay').click();
    await step('Delivered').waitFor();
    await step('Attempt 3').getByText(mended.url).waitFor();

    const webhooks = await mended.received(2);
    expect(webhooks[1]).toMatchObject({
      headers: { 'x-message-id': 'order-1' },
      body: { event: 'Order Completed', userId: 'customer-7' },
    });
    const [delivery] = await api.relay.deliveries({ messageId: 'order-1' });
    expect(audit).toMatchObject([
      { action: 'sign-in', by: 'token' },
      { action: 'destination.update', target: 'crm', by: 'session' },
      { action: 'destination.test', target: 'crm', by: 'session' },
      { action: 'delivery.replay', target: delivery!.id, by: 'session' },
    ]);
  });

  it('is seen by a read-only session, which can do none of the changing steps', async () => {
    const { api, mended, audit, url } = await startWithFailed();
    const page = await visit(url, { hash: '#/deliveries?userId=customer-7', token: READ_TOKEN });
    await page.getByRole('link', { name: 'Order Completed' }).click();
    await page.getByRole('heading', { name: 'Attempt 2' }).waitFor();
    const replay = page.getByRole('button', { name: 'Replay…' });
    expect(await replay.getAttribute('title')).toBe('Your session is read-only.');
    await replay.click({ force: true }); // Playwright would wait until it is enabled
    expect(await page.getByRole('dialog').count()).toBe(0);

    await page.getByRole('link', { name: 'Destinations' }).click();
    await page.getByRole('table').getByRole('link', { name: 'crm', exact: true }).click();
    for (const name of ['Edit', 'Send test…']) await button(page, name).click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.getByLabel('URL 1').count()).toBe(0);

    const asReader = { body: {}, token: READ_TOKEN };
    const statusOf = async (method: string, path: string) => (await api.json(method, path, asReader)).status;
    expect(await statusOf('PATCH', 'destinations/crm')).toBe(403);
    expect(await statusOf('POST', 'destinations/crm/test')).toBe(403);
    const [delivery] = await api.relay.deliveries({ state: 'dead' });
    expect(await statusOf('POST', `deliveries/${delivery!.id}/replay`)).toBe(403);
    expect(mended.webhooks).toEqual([]);
    expect(api.receiver.webhooks).toHaveLength(2);
    const refused = ['sign-in', ...Array<string>(3).fill('request.refused')];
    expect(audit.map(({ action }) => action)).toEqual(refused);
  });
});
