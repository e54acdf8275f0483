import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onFastify } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { track } from '../webhook-destination/admin/api/support.js';
import { countClicks } from './support/clicks.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';

(withChromium ? describe : describe.skip).each(onFastify)('Activity on $platform', ({ createAdapter }) => {
  const { open } = useDashboard();

  it('has the proof of a deletion, found by the id of the user, with four clicks', async () => {
    const { page, relay, receiver, get } = await open(createAdapter(), {
      options: {
        sources: [
          { name: 'shop', writeKey: 'wk_shop' },
          { name: 'app', writeKey: 'wk_app' },
        ],
      },
    });
    await relay.accept('wk_shop', [track('m1'), track('m2')]);
    await relay.accept('wk_app', [track('m3')]);
    await receiver.received(3);
    await waitFor(async () => (await get('deliveries?state=delivered')).deliveries.length === 3);
    await relay.requestDeletion({ userId: 'u1' });
    await relay.requestDeletion({ userId: 'u2' });
    await receiver.received(5);
    // A week later: the records of the notifications are gone.
    await waitFor(async () => (await get('deliveries?state=delivered')).deliveries.length === 2);
    expect(await relay.purge({ state: 'delivered' })).toBe(2);

    const clicks = await countClicks(page);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByText('2 shown (all)').or(page.getByText('3 shown (all)')).waitFor();
    await expectGoodLook(page, 'activity');
    await page.getByLabel('Deleted user').fill('u1');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('1 shown (all)').waitFor();
    await page.getByRole('link', { name: 'user.delete' }).click();
    await page.getByRole('heading', { name: 'What was deleted' }).waitFor();
    const sources = page.getByRole('table', { name: 'Deleted deliveries by source' });
    expect(await sources.locator('tbody tr').allTextContents()).toEqual(expect.arrayContaining(['shop2', 'app1']));
    const receivers = page.getByRole('table', { name: 'Receivers that were told' });
    await receivers.getByText('1 of 1 accepted, HTTP 200').waitFor();
    await page.getByText('the application', { exact: true }).waitFor();
    await expectGoodLook(page, 'activity-deletion');
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    expect(await clicks()).toBe(4);
  });

  it('shows who did what, each with a link to what it concerns, and filters', async () => {
    const { page, ask } = await open(createAdapter(), { options: { registry: 'store' } });
    const urls = ['https://receiver.example/'];
    await ask('POST', 'destinations', { body: { name: 'crm', urls } });
    await ask('POST', 'destinations/crm/pause', { body: {} });
    await ask('POST', 'sources', { body: { name: 'web' } });
    await ask('POST', 'destinations/none/pause', { body: {} });
    for (const token of ['wrong-1', 'wrong-2', 'wrong-3']) await ask('GET', 'overview', { token });
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByText('sign-in.refused').waitFor();
    await page.getByText('3 times').waitFor();
    await page.getByLabel('What').fill('destination');
    await page.keyboard.press('Enter');
    await page.getByText('2 shown (all)').waitFor();
    expect(page.url()).toContain('#/activity?what=destination');
    await page.getByRole('link', { name: 'crm' }).first().click();
    await page.getByRole('heading', { name: 'crm' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'destination.pause' }).click();
    await page.getByRole('heading', { name: 'destination.pause' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Clear' }).click();
    await page.getByRole('link', { name: 'web', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'none' }).getAttribute('href')).toBe('#/destinations/none');
    await page.getByLabel('Who').fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('No activity matches.').waitFor();
    await page.getByLabel('Who').fill('');
    await page.getByLabel('From').focus();
    await page.keyboard.type('01312030'); // a day, without its time
    await page.getByRole('button', { name: 'Search' }).click();
    expect(await page.evaluate('document.activeElement.validity.badInput')).toBe(true);
    expect(page.url()).toContain('who=nobody');
  });
});
