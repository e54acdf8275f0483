import { setTimeout as sleep } from 'node:timers/promises';

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { platforms } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { READ_TOKEN, startApi, track } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';
import { HOSTILE, LONG } from './support/hostile.js';

const REFUSED = 'every URL failed permanently';

/** Texts of the rows, cell by cell. */
const rows = async (page: Page) => {
  const all = await page.locator('tbody tr').all();
  return Promise.all(all.map((row) => row.locator('th, td').allInnerTexts()));
};

(withChromium ? describe : describe.skip).each(platforms.slice(0, 1))(
  'Dead deliveries on $platform',
  ({ createAdapter }) => {
    const { afterwards, visit, allowRefusals } = useDashboard();

    /** With dead deliveries: as many as are given, of u1 and u2 in turn. */
    async function startWithDead(count: number, name = 'crm') {
      const api = await startApi(afterwards, createAdapter(), { destination: { name } });
      api.receiver.statuses = [410];
      await die(api, count);
      return { ...api, url: `${api.host}/relay/` };
    }

    async function die({ relay }: Pick<Awaited<ReturnType<typeof startApi>>, 'relay'>, count: number) {
      const dead = async () => (await relay.stats()).find(({ state }) => state === 'dead')?.count ?? 0;
      const before = await dead();
      const messages = Array.from({ length: count }, (_, index) =>
        track(`m${before + index}`, { userId: `u${(index % 2) + 1}` }),
      );
      await relay.accept('wk_shop', messages);
      await waitFor(async () => (await dead()) === before + count);
    }

    it('are counted by destination and reason, and are replayed by keyboard once their number is confirmed', async () => {
      const { url, relay, receiver } = await startWithDead(30);
      const page = await visit(url, { hash: '#/dead' });
      await page.getByText('30 deliveries counted (all)').waitFor();
      expect((await rows(page))[0]!.slice(0, 4)).toEqual(['crm', REFUSED, '30', 'HTTP 410 × 30']);
      await expectGoodLook(page, 'dead');
      receiver.statuses = [200];
      await page.getByLabel('User').fill('u2');
      await page.keyboard.press('Enter');
      await page.getByText('15 deliveries counted (all)').waitFor();
      const replay = page.getByRole('button', { name: `Replay deliveries to crm: ${REFUSED}` });
      await replay.focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Replay dead deliveries?' });
      await dialog.getByText('15 deliveries will be sent again.').waitFor();
      // Not on the link to the destination, which is before it.
      expect(await page.evaluate('document.activeElement.tagName')).toBe('INPUT');
      await expectGoodLook(page, 'dead-replay');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(receiver.webhooks).toHaveLength(30);
      await page.keyboard.press('Enter');
      await dialog.getByRole('button', { name: 'Replay 15 deliveries' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('15 of 15').waitFor();
      await page.getByText('done', { exact: true }).waitFor();
      await expectGoodLook(page, 'dead-replayed');
      await receiver.received(45);
      await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 15);
      await page.reload();
      await page.getByText('15 of 15').waitFor();
      await page.getByText('Deliveries that were dead').waitFor();
      await page.getByRole('link', { name: 'u2', exact: true }).waitFor();
      const outcomes = page.getByText('What matches now, by state:').getByRole('link');
      expect(await outcomes.allTextContents()).toEqual(['queued', 'delivering', 'waiting', 'delivered', 'dead again']);
      await page.getByRole('link', { name: 'delivered', exact: true }).click();
      await page.getByText('15 shown (all)').waitFor();
    });

    it('are not searched by half a time, which would match all of them', async () => {
      const { url } = await startWithDead(2);
      const page = await visit(url, { hash: '#/dead?userId=u1' });
      await page.getByText('1 delivery counted (all)').waitFor();
      await page.getByText('More fields').click();
      await page.getByLabel('User').fill('');
      await page.getByLabel('Accepted from').focus();
      await page.keyboard.type('01312030'); // a day, without its time
      await page.getByRole('button', { name: 'Search' }).click();
      expect(await page.evaluate('document.activeElement.validity.badInput')).toBe(true);
      expect(page.url()).toContain('userId=u1');
      await page.getByLabel('Accepted from').fill('2030-01-31T12:00');
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByText('No dead deliveries match.').waitFor();
    });

    it('are not replayed where their number has changed since', async () => {
      allowRefusals(409);
      const { url, relay, receiver } = await startWithDead(4);
      const page = await visit(url, { hash: '#/dead' });
      await page.getByRole('button', { name: 'Replay all…' }).click();
      await page.getByText('4 deliveries will be sent again.').waitFor();
      receiver.statuses = [200];
      expect(await relay.replay({ userId: 'u1' })).toBe(2);
      await receiver.received(6);
      await page.getByRole('button', { name: 'Replay 4 deliveries' }).click();
      await page.getByText('The number of deliveries had changed, so nothing was sent. Confirm the new').waitFor();
      await page.getByText('2 deliveries will be sent again.').waitFor();
      await expectGoodLook(page, 'dead-changed');
      expect((await relay.deliveries({ state: 'dead' })).length).toBe(2);
      expect(receiver.webhooks).toHaveLength(6);
    });

    it('that die while a replay is confirmed stay dead', async () => {
      const api = await startWithDead(3);
      const page = await visit(api.url, { hash: '#/dead' });
      await page.getByRole('button', { name: 'Replay all…' }).click();
      await page.getByText('3 deliveries will be sent again.').waitFor();
      await die(api, 2);
      api.receiver.statuses = [200];
      await page.getByRole('button', { name: 'Replay 3 deliveries' }).click();
      await page.getByText('3 of 3').waitFor();
      expect((await api.relay.deliveries({ state: 'dead' })).length).toBe(2);
    });

    it('are replayed until the replay is cancelled', async () => {
      const { url, relay } = await startWithDead(5);
      // The queue takes its time: the replay is under way until the gate opens.
      let open = (): void => undefined;
      const gate = new Promise<void>((resolve) => (open = resolve));
      const replay = relay.replay.bind(relay);
      relay.replay = async (query) => {
        await gate;
        return replay(query);
      };
      const page = await visit(url, { hash: '#/dead' });
      await page.route('**/relay/api/replays/*', async (route) => {
        await sleep(700); // longer than until the next question
        await route.continue();
      });
      await page.getByRole('button', { name: 'Replay all…' }).click();
      await page.getByRole('button', { name: 'Replay 5 deliveries' }).click();
      await page.getByText('0 of 5').waitFor();
      await expectGoodLook(page, 'dead-replaying');
      await page.getByRole('button', { name: 'Cancel the replay' }).click();
      await page.getByText('cancelled', { exact: true }).waitFor();
      await page.getByText('The remaining deliveries stay dead.').waitFor();
      open();
    });

    it('that somebody else has replayed meanwhile are skipped, and the page says so', async () => {
      const { url, relay, receiver } = await startWithDead(3);
      receiver.statuses = [200];
      const page = await visit(url, { hash: '#/dead' });
      await page.getByRole('button', { name: 'Replay all…' }).click();
      const replay = relay.replay.bind(relay);
      relay.replay = async (query) => {
        await replay(query); // somebody else's
        return replay(query);
      };
      await page.getByRole('button', { name: 'Replay 3 deliveries' }).click();
      await page.getByText('3: replayed or removed by someone else in the meantime').waitFor();
      await receiver.received(6);
    });

    it('are all seen by a read-only session, which can replay none', async () => {
      const { url, relay } = await startWithDead(2);
      const page = await visit(url, { hash: '#/dead', token: READ_TOKEN });
      await page.getByText('2 deliveries counted (all)').waitFor();
      for (const button of await page.getByRole('button', { name: /^Replay/ }).all()) {
        expect(await button.getAttribute('title')).toBe('Your session is read-only.');
        await button.click({ force: true }); // Playwright would wait until it is enabled
      }
      expect(await page.getByRole('dialog').count()).toBe(0);
      await expectGoodLook(page, 'dead-read-only');
      expect((await relay.deliveries({ state: 'dead' })).length).toBe(2);
    });

    it('say that no process knows a replay', async () => {
      allowRefusals(404);
      const { url } = await startWithDead(0);
      const page = await visit(url, { hash: '#/deliveries/replays/none' });
      await page.getByText('A replay is known until the process that started it ends').waitFor();
    });

    it('show names and filters as text, whatever they are', async () => {
      const { url } = await startWithDead(2, `${HOSTILE}${LONG.slice(0, 100)}`);
      const page = await visit(url, { hash: '#/dead' });
      await page.getByText('2 deliveries counted (all)').waitFor();
      await page.getByRole('button', { name: /Replay deliveries to <img src=x/ }).click();
      await page.getByText('2 deliveries will be sent again.').waitFor();
      await expectGoodLook(page, 'dead-hostile');
      await page.getByRole('button', { name: 'Replay 2 deliveries' }).click();
      await page.getByText('2 of 2').waitFor();
      expect(await page.locator('main').innerText()).not.toMatch(/[\u202e\u2066]/);
      expect(await page.locator('main img, main script').count()).toBe(0);
      await page.goto(`${url}#/dead?userId=${encodeURIComponent(HOSTILE + LONG.slice(0, 8_000))}`);
      await page.getByText('No dead deliveries match.').waitFor();
      await expectGoodLook(page, 'dead-hostile-filter');
    });
  },
);
