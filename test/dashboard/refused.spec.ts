import { type DeliveryQueue, memoryQueue, type WholeLogRecord } from 'nestjs-analytics-relay';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onExpress } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { READ_TOKEN, track } from '../webhook-destination/admin/api/support.js';
import { countClicks } from './support/clicks.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';

const LOG = { name: 'refusals:app', age: 3_600_000, count: 1_000 };

const context = { library: { name: 'analytics-ios', version: '4.0.1' } };

const fact = (page: Page, name: string) => page.locator(`dt:text-is("${name}") + dd`);

(withChromium ? describe : describe.skip).each(onExpress)('A silent source on $platform', ({ createAdapter }) => {
  const { open, visit } = useDashboard();

  async function start() {
    const queue = memoryQueue()();
    const sources = [
      { name: 'shop', writeKey: 'wk_shop' },
      { name: 'app', writeKey: 'wk_app' },
    ];
    const api = await open(createAdapter(), { hash: '#/sources', options: { queue: () => queue, sources } });
    const post = async (writeKey: string, batch: object[]) => {
      const headers = { Authorization: `Basic ${btoa(`${writeKey}:`)}`, 'User-Agent': 'app/7 CFNetwork' };
      const response = await fetch(`${api.host}/v1/batch`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ batch }),
      });
      return response.status;
    };
    return { ...api, queue, post };
  }

  it('that sends only refused messages is explained in 1 click, a text seen in 3, and all resubmitted in 5', async () => {
    const { page, post, queue, receiver } = await start();
    const refused = [1, 2, 3].map((number) =>
      track(`order-${number}`, { event: number, context, userId: 'customer-7' }),
    );
    expect(await post('wk_app', refused)).toBe(200);
    await waitFor(async () => (await queue.refusals.ids('app', {})).length === 3);
    await page.reload();
    const clicks = await countClicks(page);

    // Why, which SDK, which field.
    await page.getByRole('row').filter({ hasText: 'app' }).getByRole('link', { name: '3', exact: true }).click();
    const group = page
      .getByRole('table', { name: 'Refused messages by reason' })
      .getByRole('row', { name: 'event_not_string' });
    await group.getByText('event must be a non-empty string').waitFor();
    await group.getByText('analytics-ios 4.0.1').waitFor();
    await group.getByRole('cell', { name: 'event', exact: true }).waitFor();
    expect(await clicks()).toBe(1);
    await expectGoodLook(page, 'source-refused');

    // One of them, with its text.
    const before = await clicks();
    await group.getByRole('button', { name: 'Show messages' }).click();
    const newest = page
      .getByRole('table', { name: 'Messages refused with event_not_string' })
      .getByRole('row')
      .filter({ hasText: 'order-3' });
    await newest.getByText('app/7 CFNetwork').waitFor();
    await newest.getByRole('button', { name: 'Show text' }).click();
    const dialog = page.getByRole('dialog', { name: 'Refused message' });
    await dialog.getByText('"customer-7"').waitFor();
    await expectGoodLook(page, 'refused-text');
    expect((await clicks()) - before).toBe(2);
    await page.keyboard.press('Escape');
    await group.getByRole('button', { name: 'Hide messages' }).click();
    await newest.waitFor({ state: 'detached' });

    // The rule is mended for two of them: for the relay, as if it were.
    const records = await queue.logs.find(LOG, await queue.refusals.ids('app', {}));
    await mend(queue, records.slice(0, 2));
    const beforeResubmission = await clicks();
    await group.getByRole('button', { name: 'Resubmit' }).click();
    await page.getByRole('dialog').getByText('The rules of ingest will be applied again to 3 messages.').waitFor();
    await expectGoodLook(page, 'resubmit');
    await page.getByRole('button', { name: 'Resubmit 3 messages' }).click();
    await page.getByText('2 messages were accepted, 1 refused again.').waitFor();
    expect((await clicks()) - beforeResubmission).toBe(2);
    expect((await receiver.taken(2)).sort()).toEqual(['order-2', 'order-3']);
    await group.getByRole('cell', { name: '1', exact: true }).waitFor();
    await page.getByRole('row').filter({ hasText: 'order-3' }).waitFor({ state: 'detached' });
    await waitFor(async () => (await fact(page, 'Accepted, last day').textContent()) === '2');
  });

  it('that sends nothing is explained in 1 click, by requests without a known write key', async () => {
    const { page, post } = await start();
    expect(await post('wk_old', [track('m1')])).toBe(401);
    const clicks = await countClicks(page);
    await page.getByRole('link', { name: 'app', exact: true }).click();
    await page.getByText('Nothing with its write key arrived in the last day.').waitFor();
    expect(await clicks()).toBe(1);
    await page.getByRole('link', { name: '1 request without a known write key' }).click();
    await page.getByRole('row', { name: 'write_key_unknown 1' }).waitFor();
  });

  it('is seen by a read-only session, which resubmits nothing', async () => {
    const { host, post, queue } = await start();
    await post('wk_app', [track('m1', { event: 1 })]);
    await waitFor(async () => (await queue.refusals.ids('app', {})).length === 1);
    const reader = await visit(`${host}/relay/`, { hash: '#/sources/app', token: READ_TOKEN });
    const resubmit = reader.getByRole('button', { name: 'Resubmit' });
    expect(await resubmit.getAttribute('title')).toBe('Your session is read-only.');
    await resubmit.click({ force: true });
    expect(await reader.getByRole('dialog').count()).toBe(0);
  });
});

/** Changes the event of kept messages to a name. */
async function mend({ logs }: DeliveryQueue, records: WholeLogRecord[]): Promise<void> {
  const toNamed = (text: string) => text.replace(/"event":\d/, '"event":"Ordered"');
  await logs.write(
    LOG,
    records.map((record) => ({ ...record, attachment: toNamed(record.attachment!) })),
  );
}
