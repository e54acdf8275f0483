import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { status } from '../support/scripted-receiver.js';
import { waitFor } from '../support/wait-for.js';
import { button, heading, usePortal } from './support/portal.harness.js';

/** Presses Tab until the focus is there. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    if ((await target.and(page.locator(':focus')).count()) > 0) return;
  }
  throw new Error(`Tab does not reach ${target.toString()}`);
}

(withChromium ? describe : describe.skip)('Without a mouse', () => {
  const { start, receive } = usePortal();

  it('an endpoint is added, tested and paused, and the focus follows', async () => {
    const receiver = await receive(status(202));
    const { open, ask } = await start();
    const page = await open();
    await tabTo(page, button(page, 'Add endpoint'));
    await page.keyboard.press('Enter');
    await heading(page, 'New endpoint').waitFor();
    await waitFor(async () => (await page.evaluate("document.activeElement.textContent === 'New endpoint'")) === true);
    await tabTo(page, page.getByLabel('URL', { exact: true }));
    await page.keyboard.type(receiver.url);
    await tabTo(page, page.getByLabel('All events'));
    await page.keyboard.press('ArrowDown');
    await tabTo(page, page.getByLabel('Search the events'));
    await page.keyboard.type('refund');
    await tabTo(page, page.getByRole('checkbox', { name: 'order.refunded' }));
    await page.keyboard.press('Space');
    await tabTo(page, page.getByRole('main').getByRole('button', { name: 'Add endpoint' }));
    await page.keyboard.press('Enter');
    await heading(page, receiver.url).waitFor();
    await waitFor(async () => (await page.evaluate("document.activeElement.tagName === 'H1'")) === true);
    expect(await ask('GET', 'endpoints')).toMatchObject({ endpoints: [{ events: ['order.refunded'] }] });

    await tabTo(page, button(page, 'Send test event…'));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Event').waitFor();
    await tabTo(page, button(page, 'Send'));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('202').waitFor();
    await page.keyboard.press('Escape');
    await waitFor(
      async () => (await page.evaluate("document.activeElement.textContent === 'Send test event…'")) === true,
    );
    expect(receiver.webhooks).toMatchObject([{ body: { event: 'order.refunded' } }]);

    await tabTo(page, page.getByRole('link', { name: 'All endpoints' }));
    await tabTo(page, button(page, 'Pause'));
    await page.keyboard.press('Enter');
    await page.getByText('The endpoint is paused.').waitFor();
    await waitFor(async () => (await page.evaluate("document.activeElement.textContent === 'Resume'")) === true);
    await page.keyboard.press('Enter');
    await page.getByText('The endpoint gets events again.').waitFor();
  });
});
