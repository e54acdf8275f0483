import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { expectGoodLook } from '../dashboard/support/dashboard.harness.js';
import { HOSTILE, SCRIPT } from '../dashboard/support/hostile.js';
import { withChromium } from '../sdks/support/chromium.js';
import { waitFor } from '../support/wait-for.js';
import { track } from '../webhook-destination/admin/api/support.js';
import { button, EVENTS, heading, say, usePortal } from './support/portal.harness.js';

const SHOWN = `${SCRIPT}\\u202e\\u2066"'&`;

/** Fails if something of a value became part of the page. */
async function expectPlain(page: Page): Promise<void> {
  expect(await page.evaluate("document.querySelectorAll('#app :is(img, script)').length")).toBe(0);
}

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });

(withChromium ? describe : describe.skip)('Each page of the portal', () => {
  const { start, receive, allowRefusals } = usePortal();

  it('says what to do while there is nothing', async () => {
    const { open } = await start({ portal: { events: [] } });
    const page = await open();
    await page.getByText('No endpoints yet').waitFor();
    await expectGoodLook(page, 'endpoints-empty');
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByText('No events are described').waitFor();
    await expectGoodLook(page, 'events-empty');
    await page.goto(`${page.url().split('#')[0]}#/nothing`);
    await heading(page, 'Unknown page').waitFor();
    await expectGoodLook(page, 'unknown');
  });

  it('shows endpoints and their deliveries, and what is hostile in them as text', async () => {
    const receiver = await receive(say(404, HOSTILE, 'text/html'));
    const { open, ask, relay } = await start();
    const url = `${receiver.url}?to=${encodeURIComponent('"><b onclick=alert(3)>')}`;
    const { id } = await ask<{ id: string }>('POST', 'endpoints', { url, description: HOSTILE });
    await ask('POST', 'endpoints', { url: `${receiver.url}/paused`, events: ['order.refunded'], signature: 'v1a' });
    await relay.accept('wk_shop', [
      track('m1', { event: HOSTILE, properties: { note: HOSTILE } }),
      track(HOSTILE, { event: 'order.completed' }),
    ]);
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 2);

    const page = await open();
    await page.getByText(SHOWN).waitFor();
    await page.getByText('order.refunded').waitFor();
    await expectPlain(page);
    await expectGoodLook(page, 'endpoints');

    await page.getByRole('link', { name: receiver.url }).first().click();
    await page.getByRole('link', { name: SHOWN }).waitFor();
    await expectPlain(page);
    await expectGoodLook(page, 'endpoint');

    await button(page, 'Send test event…').click();
    await button(page, 'Send').click();
    await dialog(page, 'Send a test event').getByText(SHOWN).waitFor();
    await expectPlain(page);
    await expectGoodLook(page, 'test');
    await button(page, 'Close').click();

    await button(page, 'Send failed ones again…').click();
    await dialog(page, 'Send failed deliveries again?').waitFor();
    await expectGoodLook(page, 'replays');
    await page.keyboard.press('Escape');
    await button(page, 'Delete…').click();
    await dialog(page, 'Delete this endpoint?').waitFor();
    await expectGoodLook(page, 'delete');
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: SHOWN }).click();
    await heading(page, `Delivery of ${SHOWN}`).waitFor();
    await page.getByRole('heading', { name: 'Attempt 1' }).waitFor();
    await expectPlain(page);
    await expectGoodLook(page, 'delivery');

    await page.goto(`${page.url().split('#')[0]}#/endpoints/${id}/edit`);
    await page.getByLabel('Description').waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe(HOSTILE);
    await expectGoodLook(page, 'edit');
  });

  it('shows the catalogue, and what is hostile in it as text', async () => {
    const name = `order ${SCRIPT}`;
    const hostile = {
      name,
      description: HOSTILE,
      schema: { type: 'object', properties: { [HOSTILE]: { type: 'string', description: HOSTILE } } },
      example: { [HOSTILE]: HOSTILE },
    };
    const { open } = await start({ portal: { events: [...EVENTS, hostile] } });
    const page = await open();
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByText(SHOWN).waitFor();
    await expectPlain(page);
    await expectGoodLook(page, 'events');
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download OpenAPI').click()]);
    expect(download.suggestedFilename()).toBe('openapi.json');

    await page.getByRole('link', { name }).click();
    await heading(page, name).waitFor();
    await page.locator('.schema').getByText(SHOWN).first().waitFor();
    await expectPlain(page);
    await expectGoodLook(page, 'event');

    await page.getByRole('link', { name: 'Endpoints' }).click();
    await button(page, 'Add endpoint').click();
    await page.getByLabel('Only these:').check();
    await page.getByLabel('Search the events').fill('script');
    await page.getByRole('checkbox', { name }).check();
    await page.getByText('1 of 4 chosen').waitFor();
    await expectPlain(page);

    allowRefusals(400);
    await page.getByLabel('URL', { exact: true }).fill('ftp://acme.example');
    await page.getByRole('main').getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByText('Nothing was saved').waitFor();
    expect(await page.getByLabel('URL', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await expectGoodLook(page, 'new-endpoint');
  });

  it('says how to verify a signature, in six languages', async () => {
    const { open } = await start();
    const page = await open();
    await page.getByRole('link', { name: 'Verify signatures' }).click();
    for (const language of ['Node.js', 'Python', 'Go', 'Ruby', 'PHP', 'Java']) {
      await button(page, language).click();
      await page.getByRole('figure').filter({ hasText: language }).getByRole('button', { name: 'Copy' }).waitFor();
      expect(await button(page, language).getAttribute('aria-pressed')).toBe('true');
    }
    await page.getByText('/relay/portal/jwks.json').waitFor();
    await expectGoodLook(page, 'signatures');
  });

  it.each([
    ['en-GB', 'en-GB'],
    ['fr-FR', 'en'],
  ])('is in a language that the browser with %s wants and the portal has', async (wanted, language) => {
    const { open } = await start();
    const page = await open({ browser: { locale: wanted } });
    await page.getByText('No endpoints yet').waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe(language);
  });
});
