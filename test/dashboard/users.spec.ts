import { memoryQueue, QueueFullError } from 'nestjs-analytics-relay';
import { describe, expect, it, vi } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onExpress } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { READ_TOKEN, track } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';
import { BIDI, SCRIPT } from './support/hostile.js';

const HOSTILE_ID = `${SCRIPT}${BIDI}/?#%&`;

/** As the page has it: hidden characters cannot be typed. */
const SHOWN_ID = HOSTILE_ID.replace(BIDI, String.raw`\u202e\u2066`);

(withChromium ? describe : describe.skip).each(onExpress)('Users on $platform', ({ createAdapter }) => {
  const { open, allowRefusals } = useDashboard();

  it('shows what the queue holds of a user, in pages, found by keyboard', async () => {
    const { page, relay, receiver, host } = await open(createAdapter(), { hash: '#/users' });
    await relay.accept('wk_shop', [
      ...Array.from({ length: 60 }, (_, index) => track(`m${index}`)),
      track('other', { userId: 'u2' }),
    ]);
    await receiver.received(61);
    await page.getByText('Whose data?').waitFor();
    await page.getByLabel('User id').focus();
    await page.keyboard.type('u1');
    await page.keyboard.press('Enter');
    const rows = page.getByRole('table').locator('tbody tr');
    await waitFor(async () => (await rows.count()) === 50);
    expect(page.url()).toBe(`${host}/relay/#/users?userId=u1`);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByText('60 shown (all)').waitFor();
    expect(await rows.count()).toBe(60);
    expect(await rows.getByText('other').count()).toBe(0);
    await page.goBack();
    await page.getByText('Whose data?').waitFor();
    await page.getByLabel('User id').fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('The queue has no deliveries for this user.').waitFor();
    await relay.accept('wk_shop', [track('late', { userId: 'nobody' })]);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('1 shown (all)').waitFor();
  });

  it('deletes their data once the id is typed, and says what was deleted', async () => {
    const { page, relay, receiver, get } = await open(createAdapter(), {
      hash: `#/users?${new URLSearchParams({ userId: HOSTILE_ID }).toString()}`,
    });
    await relay.accept('wk_shop', [
      track('m1', { userId: HOSTILE_ID, event: SCRIPT }),
      track('m2', { userId: HOSTILE_ID }),
      track('m3'),
    ]);
    await receiver.received(3);
    await waitFor(async () => (await get('deliveries?state=delivered')).deliveries.length === 3);
    await page.reload();
    await page.getByText('2 shown (all)').waitFor();
    await expectGoodLook(page, 'user');
    const opener = page.getByRole('button', { name: "Delete the user's data…" });
    await opener.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: "Delete the user's data?" });
    const confirm = dialog.getByRole('button', { name: 'Delete' });
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    await expectGoodLook(page, 'user-deletion');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe("Delete the user's data…");
    await page.keyboard.press('Enter');
    await dialog.getByRole('textbox').fill('u1');
    await confirm.click({ force: true });
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    await dialog.getByRole('textbox').fill(SHOWN_ID);
    await page.keyboard.press('Enter');
    await page.getByText('2 deliveries deleted, 1 delete notification queued.').waitFor();
    await waitFor(() => receiver.webhooks.some(({ body }) => body.type === 'delete' && body.userId === HOSTILE_ID));
    expect((await get('deliveries')).deliveries.map(({ messageId }) => messageId)).toContain('m3');
    await page.getByText('1 shown (all)').waitFor(); // the notification
    await expectGoodLook(page, 'user-deleted');
  });

  it('are deleted from the chosen sources alone, whose receivers are named before', async () => {
    const url = 'http://127.0.0.1:9/';
    const { page, relay, find, host } = await open(createAdapter(), {
      hash: '#/users?userId=u1',
      options: {
        sources: ['a', 'b', 'c'].map((name) => ({ name, writeKey: `wk_${name}` })),
        destinations: [
          { name: 'crm of a', urls: [url], sources: ['a'] },
          { name: 'crm of b', urls: [url], sources: ['b'] },
          { name: 'warehouse', urls: [url] },
          { name: 'newsletter', urls: [url], sources: ['c'], enabled: false },
        ],
      },
    });
    await relay.accept('wk_a', [track('m1'), track('m2')]);
    await relay.accept('wk_b', [track('m3')]);
    await page.getByRole('button', { name: "Delete the user's data…" }).click();
    const dialog = page.getByRole('dialog', { name: "Delete the user's data?" });
    await dialog.getByLabel('a: 4 deliveries').waitFor();
    await dialog.getByLabel('c: 0 deliveries').waitFor();
    expect(await dialog.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await dialog.getByRole('textbox').fill('u1');
    const confirm = dialog.getByRole('button', { name: 'Delete' });
    expect(await confirm.getAttribute('title')).toBe('Choose a source first.');
    await dialog.getByLabel('All sources').check();
    await dialog.getByText('3 destinations are notified: ').waitFor();
    await dialog.getByText('newsletter is disabled, and not notified, now or later.').waitFor();
    await dialog.getByLabel('a: 4 deliveries').check();
    await dialog.getByText(/^2 destinations are notified: .*crm of a/).waitFor();
    expect(await dialog.getByText('newsletter').count()).toBe(0);
    expect(await dialog.getByText(/endpoints? disabled/).count()).toBe(0);
    await expectGoodLook(page, 'user-deletion-scope');
    await confirm.click();
    await page.getByText('4 deliveries deleted, 2 delete notifications queued.').waitFor();
    const left = (await find('type=track')).map(({ messageId }) => messageId);
    expect(left).toEqual(['m3', 'm3']);
    const notices = (await find('type=delete')) as unknown as { destination: string }[];
    expect(notices.map(({ destination }) => destination).sort()).toEqual(['crm of a', 'warehouse']);
    const { id } = await relay.requestDeletion({ userId: 'u1' });
    await page.goto(`${host}/relay/#/activity/${id}`);
    await page.getByText('Not told, because disabled: newsletter.').waitFor();
  });

  it('says which receivers of a deletion cannot get it yet', async () => {
    const { page, relay, receiver } = await open(createAdapter(), {
      hash: '#/users?userId=u1',
      options: {
        registry: 'store',
        portal: { secret: 'portal-secret-of-the-tests-of-32-bytes' },
        sources: [{ name: 'acme', writeKey: 'wk_acme', metadata: { tenant: 'acme' } }],
        destinations: [],
      },
    });
    receiver.statuses = [410];
    await relay.destinations.create({ name: 'hook', urls: [receiver.url], metadata: { tenant: 'acme' } });
    await relay.accept('wk_acme', [track('m1')]);
    await waitFor(async () => (await relay.destinations.get('hook'))!.disabled !== undefined);
    await page.getByRole('button', { name: "Delete the user's data…" }).click();
    await page.getByText('1 destination is notified: hook.').waitFor();
    await page.getByText('1 of them is an endpoint disabled, or paused by the tenant').waitFor();
    await expectGoodLook(page, 'user-deletion-disabled');
  });

  it('says why a deletion failed, and stays open', async () => {
    allowRefusals(503);
    const queue = memoryQueue()();
    const { page } = await open(createAdapter(), { hash: '#/users?userId=..', options: { queue: () => queue } });
    vi.spyOn(queue, 'add').mockRejectedValueOnce(new QueueFullError('the queue is full'));
    const opener = page.getByRole('button', { name: "Delete the user's data…" });
    await opener.click();
    await page.getByRole('dialog').getByRole('textbox').fill('..');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await opener.click();
    await page.getByRole('dialog').getByRole('textbox').fill('..');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('0 deliveries deleted, 1 delete notification queued.').waitFor();
  });

  it('cannot be deleted in a read-only session, which says so', async () => {
    const { page } = await open(createAdapter(), { hash: '#/users?userId=u1', token: READ_TOKEN });
    const button = page.getByRole('button', { name: "Delete the user's data…" });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await button.getAttribute('title')).toBe('Your session is read-only.');
    await button.click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});
