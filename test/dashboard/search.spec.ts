import { memoryQueue } from 'nestjs-analytics-relay';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onExpress } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { waitFor } from '../support/wait-for.js';
import { startApi, track } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';

/** The search box, and how often the operator acted: each text that is typed, key and click counts. */
function operator(page: Page) {
  let actions = 0;
  const box = page.getByRole('banner').getByRole('searchbox');
  return {
    box,
    actions: () => actions,
    search: async (text: string) => {
      await box.fill(text);
      await page.keyboard.press('Enter');
      actions += 2;
    },
    click: async (name: string) => {
      await page.getByRole('link', { name, exact: true }).click();
      actions++;
    },
  };
}

(withChromium ? describe : describe.skip).each(onExpress)('The search box on $platform', ({ createAdapter }) => {
  const { afterwards, visit, allowRefusals } = useDashboard();

  async function startWithOrders() {
    const destinations = Array.from({ length: 5_000 }, (_, index) => ({
      name: `hook-${index}`,
      urls: ['http://127.0.0.1:9/'],
      events: [`Never ${index}`],
      metadata: { tenant: `Acme ${index}` },
    }));
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const api = await startApi(afterwards, createAdapter(), {
      options: {
        queue: memoryQueue(),
        destinations: [...destinations, { name: 'crm', urls: [receiver.url] }],
        search: { fields: ['properties.orderId', 'traits.email'] },
        delivery: { allowedNetworks: ['127.0.0.0/8'] },
      },
    });
    const { relay } = api;
    const orders = [4711, '4711', 4712].map((orderId, index) =>
      track(`m${index}`, { event: `Order ${index}`, properties: { orderId }, anonymousId: 'a-77' }),
    );
    await relay.accept('wk_shop', orders);
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 3);
    return { ...api, url: `${api.host}/relay/` };
  }

  it('finds an order by its number in 2 actions, and a destination of 5,000 by its tenant in 3', async () => {
    const { url } = await startWithOrders();
    const page = await visit(url);
    const order = operator(page);
    await order.search('4711');
    await page.getByRole('heading', { name: 'Deliveries by properties.orderId: 4711' }).waitFor();
    const messages = page.getByRole('table', { name: 'Deliveries by properties.orderId' }).locator('tbody th a');
    expect(await messages.allInnerTexts()).toEqual(['Order 1', 'Order 0']);
    expect(order.actions()).toBe(2);
    await expectGoodLook(page, 'search');

    const tenant = operator(page);
    await tenant.search('acme 4321');
    await page.getByRole('table', { name: 'Destinations' }).getByText('metadata.tenant: Acme 4321').waitFor();
    await tenant.click('hook-4321');
    await page.getByRole('heading', { level: 1, name: 'hook-4321' }).waitFor();
    expect(tenant.actions()).toBe(3);
  });

  it('finds ids of deliveries, messages, users and sources, and says what it searched when there is nothing', async () => {
    const { url, relay } = await startWithOrders();
    const page = await visit(url);
    const { search, click, box } = operator(page);
    const [{ id } = { id: '' }] = await relay.deliveries({ messageId: 'm2' });
    await search(id);
    await page.getByRole('heading', { name: `Deliveries by delivery id: ${id}` }).waitFor();
    await search('m2');
    await page.getByRole('heading', { name: 'Deliveries by message id: m2' }).waitFor();
    await search('u1');
    await page.getByRole('heading', { name: 'Deliveries by user: u1' }).waitFor();
    await search('a-77');
    await page.getByRole('heading', { name: 'Deliveries by anonymous id: a-77' }).waitFor();
    await search('<b>nobody</b>');
    await page.getByText('properties.orderId, traits.email of messages').waitFor();
    await page.reload();
    await page.getByText('Nothing found.').waitFor();
    expect(await box.inputValue()).toBe('<b>nobody</b>');
    await search('shop');
    await click('shop');
    await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor();
  });

  it('finds a refused message, with a link to the reason', async () => {
    const { url, relay, get } = await startWithOrders();
    await relay.accept('wk_shop', [track('refused-1', { event: 7 })]);
    await waitFor(async () => ((await get('search?text=refused-1')).refusals as object[]).length === 1);
    const page = await visit(url);
    await operator(page).search('refused-1');
    await page.getByRole('table', { name: 'Refused messages' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: /^Messages refused with event_not_string/ }).waitFor();
    await page.getByRole('table', { name: 'Messages refused with event_not_string' }).getByText('refused-1').waitFor();
  });

  it('goes on until it has found a message among all deliveries', async () => {
    const { relay, host } = await startApi(afterwards, createAdapter(), {
      options: {
        queue: memoryQueue(),
        destinations: [{ name: 'none', urls: ['https://receiver.example/'], transform: () => undefined }],
      },
    });
    await relay.accept('wk_shop', [track('the-oldest')]);
    for (let batch = 0; batch < 15; batch++) {
      await relay.accept(
        'wk_shop',
        Array.from({ length: 1_000 }, (_, index) => track(`m${batch}-${index}`)),
      );
    }
    const page = await visit(`${host}/relay/`);
    await operator(page).search('the-oldest');
    await page.getByRole('heading', { name: 'Deliveries by message id: the-oldest' }).waitFor();
    await operator(page).search('of-nobody');
    await page.getByText('Nothing found.').waitFor();
    // As with a large queue: the search has no time to read all, and to go on takes long.
    const unfinished = { query: { messageId: 'of-nobody' }, deliveries: [], more: true };
    await page.route('**/relay/api/search?*', async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...answer, found: [unfinished] } });
    });
    await page.route('**/relay/api/deliveries?*', () => undefined);
    await page.getByRole('button', { name: 'Search again' }).click();
    await page.getByText('Searching older deliveries by message id…').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Older deliveries have not all been searched.').waitFor();
    expect(await page.getByText('Nothing found.').count()).toBe(0);
  });

  it('has room for fields with long names at every width', async () => {
    const fields = ['properties.subscription.customerReference', 'context.campaign.originatingPartnerIdentifier'];
    const { host } = await startApi(afterwards, createAdapter(), { options: { search: { fields } } });
    const page = await visit(`${host}/relay/`, { hash: '#/deliveries' });
    await page.getByLabel(fields[0]!).waitFor();
    await expectGoodLook(page, 'long-fields');
  });

  it('has the fields in the filter of deliveries, where the error is shown at its field', async () => {
    allowRefusals(400);
    const { url } = await startWithOrders();
    const page = await visit(url, { hash: '#/deliveries' });
    await page.getByLabel('properties.orderId').fill('4712');
    await page.getByText('More fields').click();
    await page.getByLabel('Event begins with').fill('Order');
    await page.getByLabel('Status of the last attempt').fill('200');
    await page.getByLabel('Anonymous id').fill('a-77');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('1 shown (all)').waitFor();
    expect(await page.locator('tbody th a').allInnerTexts()).toEqual(['Order 2']);
    expect(new URL(page.url()).hash).toContain('field.properties.orderId=4712');
    await page.getByLabel('Status of the last attempt').fill('abc');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('status must be an HTTP status, such as 404').first().waitFor();
  });
});
