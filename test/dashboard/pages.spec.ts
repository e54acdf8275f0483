import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onFastify } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { track } from '../webhook-destination/admin/api/support.js';
import { useDashboard } from './support/dashboard.harness.js';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

// Specs of the pages look at everything, on one platform each: this one drives all pages on both.
(withChromium ? describe : describe.skip).each(onFastify)('Every page on $platform', ({ createAdapter }) => {
  const { open } = useDashboard();

  it('creates no entries where they are declared in code', async () => {
    const { page } = await open(createAdapter());
    const why = "The module has no registry: 'store', so entries are declared in the application's code.";
    for (const [name, label] of [
      ['Destinations', 'New destination'],
      ['Sources', 'New source…'],
    ] as const) {
      await goTo(page, name);
      await page.locator('main > p').getByText(why).waitFor();
      const create = button(page, label);
      expect([await create.getAttribute('aria-disabled'), await create.getAttribute('title')]).toEqual(['true', why]);
    }
  });

  it('shows what there is, and acts on it', async () => {
    const { page, relay, receiver } = await open(createAdapter(), {
      options: { registry: 'store', destinations: [], delivery: { allowedNetworks: ['127.0.0.0/8'] } },
    });
    await page.getByText('The queue has no deliveries.').waitFor();

    await goTo(page, 'Destinations');
    await button(page, 'New destination').click();
    await page.getByRole('heading', { level: 1, name: 'New destination' }).waitFor(); // the list has a field Name, too
    await page.getByLabel('Name', { exact: true }).fill('crm');
    await page.getByLabel('URL 1').fill(receiver.url);
    await button(page, 'Create').click();
    await button(page, 'I have stored it').click();
    await page.getByRole('heading', { level: 1, name: 'crm' }).waitFor();

    await goTo(page, 'Live');
    await page.getByText('Live: events of this process only.').waitFor();
    receiver.statuses = [404, 200];
    await relay.accept('wk_shop', [track('m1', { event: 'Ordered' })]);
    await page
      .getByRole('row')
      .filter({ hasText: 'rejected with 404' })
      .or(page.getByRole('row', { name: /dead/ }))
      .first()
      .waitFor();

    await goTo(page, 'Dead');
    await button(page, 'Replay all…').click();
    await button(page, 'Replay 1 delivery').click();
    await page.getByText('1 of 1').waitFor();
    await receiver.received(2);
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 1);

    await goTo(page, 'Deliveries');
    await page.getByLabel('User').fill('u1');
    await button(page, 'Search').click();
    await page.getByRole('link', { name: 'Ordered' }).click();
    await page.getByRole('heading', { name: 'Delivered' }).waitFor();

    await goTo(page, 'Overview');
    await page.getByRole('row').filter({ hasText: 'crm' }).first().waitFor();

    await goTo(page, 'Sources');
    await button(page, 'New source…').click();
    await page.getByRole('dialog').getByLabel('Name').fill('app');
    await button(page, 'Create').click();
    await button(page, 'I have stored it').click();
    await page.getByRole('link', { name: 'app', exact: true }).waitFor();

    await goTo(page, 'Explain');
    await page.getByLabel('Source').selectOption('app');
    await page.getByLabel('Message', { exact: true }).fill('{"type":"track","userId":"u1","event":"Viewed"}');
    await button(page, 'Explain').click();
    await page.getByText('Accepted. 1 destination gets it.').waitFor({ state: 'attached' });

    await goTo(page, 'Users');
    await page.getByLabel('User id').fill('u1');
    await page.keyboard.press('Enter');
    await page.getByText('1 shown (all)').waitFor();
    await button(page, "Delete the user's data…").click();
    await page.getByRole('dialog').getByRole('textbox').fill('u1');
    await page.getByRole('dialog').getByLabel('All sources').check();
    await button(page, 'Delete').click();
    await page.getByText('1 delivery deleted, 1 delete notification queued.').waitFor();
    await receiver.received(3); // one, though two sources send there
    expect(receiver.webhooks.at(-1)!.body).toMatchObject({ type: 'delete', userId: 'u1' });
  });
});
