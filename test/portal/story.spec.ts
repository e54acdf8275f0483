import { verifyStandardWebhook } from 'nestjs-analytics-relay';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { type ScriptedReceiver, status } from '../support/scripted-receiver.js';
import { waitFor } from '../support/wait-for.js';
import { track } from '../webhook-destination/admin/api/support.js';
import { button, heading, paths, usePortal } from './support/portal.harness.js';

const order = (id: string) => track(id, { event: 'order.completed', properties: { orderId: id } });

/** The secret that the page shows under a name. */
const secretOf = async (page: Page, name: string) =>
  (await page.locator('.secret', { hasText: name }).locator('code').textContent())!;

/** Fails unless a customer with the secret, and their library, take what was received from `first` on. */
function verify({ webhooks }: ScriptedReceiver, first: number, secret: string): void {
  const webhook = new Webhook(secret);
  for (const { raw, headers } of webhooks.slice(first)) webhook.verify(raw, headers as Record<string, string>);
}

(withChromium ? describe : describe.skip)('A customer', () => {
  const { start, receive } = usePortal();

  it('with a wrong path sees 404 and the answer, mends it, replays what was missed, and rotates the secret while all is verified', async () => {
    const receiver = await receive(paths({ '/orders': status(204) }));
    const base = `http://127.0.0.1:${receiver.port}`;
    const { open, relay } = await start();
    const page = await open();
    await button(page, 'Add endpoint').click();
    await page.getByLabel('URL', { exact: true }).fill(`${base}/order`);
    await page.getByRole('main').getByRole('button', { name: 'Add endpoint' }).click();
    await heading(page, `${base}/order`).waitFor();
    await page.getByText('The endpoint has been added.').waitFor();

    await relay.accept('wk_shop', [order('o-1'), order('o-2')]);
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 2);
    await button(page, 'Refresh').click();
    await page.getByText('o-1', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'order.completed' }).first().click();
    await page.getByText('Not delivered after 1 attempt. The last answer was: HTTP 404.').waitFor();
    await page.getByText('There is nothing at /order.').waitFor();

    await page.getByRole('link', { name: 'Endpoint', exact: true }).click();
    await button(page, 'Edit').click();
    await page.getByLabel('URL', { exact: true }).fill(`${base}/orders`);
    await button(page, 'Save').click();
    await heading(page, `${base}/orders`).waitFor();
    await button(page, 'Send failed ones again…').click();
    await button(page, 'Send again').click();
    await page.getByText('2 deliveries are sent again.').waitFor();
    await button(page, 'Close').click();
    await waitFor(() => receiver.webhooks.length === 4);
    expect(receiver.webhooks.map(({ path }) => path)).toEqual(['/order', '/order', '/orders', '/orders']);
    const ids = receiver.webhooks.map(({ headers }) => headers['webhook-id'] as string);
    expect(new Set(ids.slice(2))).toEqual(new Set(ids.slice(0, 2)));

    await button(page, 'Show').click();
    const first = await secretOf(page, 'Signing secret');
    verify(receiver, 0, first);

    await button(page, 'Rotate…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^Both hold until .* Put the new one into your server before then\.$/).waitFor();
    await button(page, 'Rotate').click();
    await dialog.getByText(/^Both hold until/).waitFor();
    const second = await secretOf(page, 'New signing secret');
    expect(second).not.toBe(first);
    await button(page, 'Close').click();
    await page.getByText(/^Requests are also signed with the previous one, until/).waitFor();

    await relay.accept('wk_shop', [order('o-3')]);
    await waitFor(() => receiver.webhooks.length === 5);
    verify(receiver, 4, first); // the customer has not changed it yet
    verify(receiver, 4, second);

    await button(page, 'Rotate…').click();
    await dialog.getByText('An earlier one still holds. It ends now.').waitFor();
    await dialog.getByLabel('The old one also holds').selectOption('not at all: it ends now');
    await dialog.getByText('Your server refuses requests until it has the new one.').waitFor();
    await button(page, 'Rotate').click();
    const third = await secretOf(page, 'New signing secret');
    await button(page, 'Close').click();
    await button(page, 'Send test event…').click();
    await button(page, 'Send').click();
    await dialog.getByText('204').waitFor();
    await dialog.getByText('Accepted after').waitFor();
    verify(receiver, 5, third);
    expect(() => verify(receiver, 5, second)).toThrow('No matching signature found');
  });

  it('changes from a shared secret to a public key while all is verified', async () => {
    const receiver = await receive(status(200));
    const { open, ask, relay } = await start();
    await ask('POST', 'endpoints', { url: receiver.url });
    const page = await open();
    await page.getByRole('link', { name: receiver.url }).click();
    await button(page, 'Show').click();
    const secret = await secretOf(page, 'Signing secret');
    await button(page, 'Rotate…').click();
    await page.getByRole('dialog').getByLabel('Public key').check();
    await button(page, 'Rotate').click();
    const key = await secretOf(page, 'New public key');
    expect(key).toMatch(/^whpk_/);
    await button(page, 'Close').click();
    await page.getByText('Verify the signature of each request with this public key').waitFor();
    expect(await secretOf(page, 'Public key')).toBe(key);

    await relay.accept('wk_shop', [order('o-1')]);
    await waitFor(() => receiver.webhooks.length === 1);
    const { raw, headers } = receiver.webhooks[0]!;
    verify(receiver, 0, secret);
    expect(verifyStandardWebhook(raw, headers, key)).toBe(true);
    expect(verifyStandardWebhook(Buffer.concat([raw, Buffer.from(' ')]), headers, key)).toBe(false);
  });
});
