import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { Forwarder } from '../support/forwarder.js';
import { platforms } from '../support/platforms.js';
import { Receiver } from '../support/receiver.js';
import { ScriptedReceiver, status } from '../support/scripted-receiver.js';
import { redisStore } from '../support/services.js';
import { sharedQueue } from '../support/shared-queue.js';
import { waitFor } from '../support/wait-for.js';
import { followAudit, track } from '../webhook-destination/admin/api/support.js';
import { countClicks } from './support/clicks.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name, exact: true });

const messages = (count: number, start = 0) => Array.from({ length: count }, (_, index) => track(`m${start + index}`));

(withChromium ? describe : describe.skip).each(platforms)('The operator on $platform', ({ createAdapter }) => {
  const { afterwards, open, allowRefusals } = useDashboard();
  const fast = { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 100, maxRetryDelay: 300 };

  it('replays what a destination missed while it was down, at a rate, with 4 clicks', async () => {
    const { page, relay, receiver } = await open(createAdapter(), {
      destination: { name: 'crm' },
      options: { delivery: { ...fast, retryWindow: 1_000 } },
      hash: '#/live',
    });
    receiver.statuses = [503];
    await relay.accept('wk_shop', messages(40));
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 40);
    receiver.statuses = [200]; // mended
    const before = receiver.webhooks.length;
    const clicks = await countClicks(page);

    await link(page, 'Overview').click();
    await page.getByText('1 destination fails: crm.').waitFor();
    const attention = page.getByRole('region', { name: 'What needs attention' });
    await attention.getByText('HTTP 503').waitFor();
    await expectGoodLook(page, 'overview-failing');
    await attention.getByRole('link', { name: '40 dead' }).click();
    await button(page, 'Replay all that match…').click();
    await page.getByText('40 deliveries will be sent again.').waitFor();
    allowRefusals(400);
    await page.getByLabel('Deliveries per second').fill('none');
    await page.keyboard.press('Enter');
    await page.getByText('Rate must be a whole number of deliveries per second, from 1 to 10000.').waitFor();
    await page.getByLabel('Deliveries per second').fill('20');
    await button(page, 'Replay 40 deliveries').click();
    await page.getByText('20 per second').waitFor();
    await page.getByText(/^about /).waitFor();
    await page.getByText('40 of 40').waitFor();
    await page.getByText('done', { exact: true }).waitFor();
    expect(await clicks()).toBe(4);

    await receiver.received(before + 40);
    const [first, last] = [receiver.webhooks[before]!, receiver.webhooks.at(-1)!];
    expect(last.at - first.at).toBeGreaterThan(1_000);
    expect(new Set(receiver.webhooks.slice(before).map(({ headers }) => headers['x-message-id'])).size).toBe(40);
  });

  it('tries a waiting delivery now with one click, and sends a delivered one again only once that is confirmed', async () => {
    const { page, relay, receiver, host } = await open(createAdapter(), {
      options: { delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 600_000 } },
      hash: '#/live',
    });
    receiver.statuses = [503];
    await relay.accept('wk_shop', messages(3));
    await waitFor(async () => (await relay.deliveries({ state: 'waiting' })).length === 3);
    receiver.statuses = [200];
    const [delivery] = await relay.deliveries({ state: 'waiting' });
    await page.goto(`${host}/relay/#/deliveries/${delivery!.id}`);
    await button(page, 'Try now').click();
    await button(page, 'Send again…').click();
    const dialog = page.getByRole('dialog', { name: 'Send this delivery again?' });
    await dialog.getByText('The receiver has got this message already, and gets it once more.').waitFor();
    await expectGoodLook(page, 'delivery-send-again');
    expect(receiver.webhooks).toHaveLength(4);
    await dialog.getByRole('button', { name: 'Send again', exact: true }).click();
    await receiver.received(5);
    await page.getByRole('heading', { name: 'Attempt 3' }).waitFor();

    await page.goto(`${host}/relay/#/deliveries?state=waiting`);
    await button(page, 'Try all now…').click();
    await page.getByText('2 deliveries will be tried now.').waitFor();
    await button(page, 'Try 2 deliveries now').click();
    await page.getByText('2 of 2').waitFor();
    await receiver.received(7);
    await link(page, 'waiting').click();
    await page.getByText('No deliveries match.').waitFor();
    await page.goto(`${host}/relay/#/deliveries?state=delivered&userId=u1`);
    await button(page, 'Send all that match again…').click();
    await page.getByText('3 deliveries will be sent again: receivers have got them already').waitFor();
    await expectGoodLook(page, 'deliveries-send-again');
    await button(page, 'Send 3 deliveries again').click();
    await page.getByText('3 of 3').waitFor();
    await receiver.received(10);
  });

  it('ends a leaked secret at once after its rotation, with 7 clicks', async () => {
    const { page, relay, receiver } = await open(createAdapter(), {
      options: { registry: 'store', destinations: [] },
    });
    await relay.destinations.create({ name: 'crm', urls: [receiver.url], sharedSecret: 'leaked-secret' });
    const audit = followAudit(relay);
    const clicks = await countClicks(page);
    await link(page, 'Destinations').click();
    await link(page, 'crm').click();
    await button(page, 'Rotate secret…').click();
    await button(page, 'Rotate').click();
    await button(page, 'I have stored it').click();
    await relay.accept('wk_shop', messages(1));
    expect((await receiver.received(1))[0]!.headers).toHaveProperty('x-signature-previous');
    await button(page, 'End overlap…').click();
    const dialog = page.getByRole('dialog', { name: 'End the previous secret now?' });
    await dialog.getByText('receivers that still use the previous one refuse them').waitFor();
    await expectGoodLook(page, 'destination-end-overlap');
    await button(page, 'End it now').click();
    await page.getByText('The previous secret has ended.').waitFor();
    await button(page, 'End overlap…').waitFor({ state: 'detached' });
    expect(await clicks()).toBe(7);
    await relay.accept('wk_shop', messages(1, 1));
    expect((await receiver.received(2))[1]!.headers).not.toHaveProperty('x-signature-previous');
    expect(audit).toMatchObject([
      { action: 'destination.rotate-secret', target: 'crm' },
      { action: 'destination.end-overlap', target: 'crm', by: 'session' },
    ]);
  });

  it('finds the receiver that made latency rise, with 1 click and the order', async () => {
    const slow = createServer((request, response) => {
      request.resume().on('end', () => void sleep(1_500).then(() => response.end()));
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    afterwards(() => new Promise((resolve) => slow.close(resolve)));
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const names = ['alpha', 'beta', 'gamma'];
    const { page, relay } = await open(createAdapter(), {
      options: {
        destinations: [
          ...names.map((name) => ({ name, urls: [receiver.url] })),
          { name: 'omega', urls: [`http://127.0.0.1:${(slow.address() as AddressInfo).port}/`] },
        ],
        delivery: fast,
      },
    });
    await relay.accept('wk_shop', messages(5));
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 20);
    const clicks = await countClicks(page);
    await link(page, 'Destinations').click();
    await page.getByLabel('Order').selectOption('p95');
    const row = page.locator('tbody tr').first();
    await row.getByRole('link', { name: 'omega' }).waitFor();
    await row
      .getByText(/^(?:[4-9]\d\d ms|\d(?:\.\d)? s)$/)
      .first()
      .waitFor();
    await row.getByRole('img', { name: 'p95 of the last hour' }).waitFor();
    expect(await clicks()).toBe(1);
    expect(page.url()).toContain('sort=p95');
    await expectGoodLook(page, 'destinations-p95');
    await page.getByLabel('Order').selectOption('name');
    await page.locator('tbody tr').first().getByRole('link', { name: 'alpha' }).waitFor();
  });

  it('sees that a backlog is sent at its rate limit, and when it is done', async () => {
    const { page, relay, host } = await open(createAdapter(), {
      destination: { name: 'crm', rateLimit: { requests: 2, per: 60_000 } },
      hash: '#/live',
    });
    await relay.accept('wk_shop', messages(12));
    await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 2);
    const pace = /sending at its rate limit, 2 deliveries a minute; all are sent by about \d\d:\d\d/;
    await page.goto(`${host}/relay/#/destinations/crm`);
    await page.getByText(pace).waitFor();
    const [queued] = await relay.deliveries({ state: 'queued' });
    await page.goto(`${host}/relay/#/deliveries/${queued!.id}`);
    await page.locator('.verdict + .warn-text').getByText(pace).waitFor();
  });

  it('sees until when a receiver wants no requests, and no pace of a backlog that is not sent', async () => {
    const busy = await ScriptedReceiver.start(status(429, { 'Retry-After': '600' }));
    afterwards(() => busy.stop());
    const { page, relay, host } = await open(createAdapter(), {
      options: { destinations: [{ name: 'crm', urls: [busy.url], rateLimit: { requests: 2, per: 60_000 } }] },
      hash: '#/live',
    });
    await relay.accept('wk_shop', messages(12));
    await waitFor(async () => (await relay.deliveries({ state: 'waiting' })).length > 0);
    const held = /asked for no requests.*\(Retry-After\)/;
    await page.goto(`${host}/relay/#/destinations/crm`);
    await page.getByText(held).waitFor();
    await page.getByText('failing', { exact: true }).first().waitFor();
    expect(await page.getByText('sending at its rate limit').count()).toBe(0);
    const [queued] = await relay.deliveries({ state: 'queued' });
    await page.goto(`${host}/relay/#/deliveries/${queued!.id}`);
    await page.locator('.verdict + .warn-text').getByText(held).waitFor();
  });

  it('sees that figures are stale while the store is gone, and current once it is back', async () => {
    allowRefusals(503, 500, 0);
    const place = redisStore.create();
    afterwards(place.remove);
    const forwarder = await Forwarder.start(afterwards, redisStore.url);
    const { target } = forwarder;
    const queue = sharedQueue({ ...place.options, connection: forwarder.url });
    const { page, relay, receiver, host } = await open(createAdapter(), { options: { queue } });
    await relay.accept('wk_shop', messages(3));
    await receiver.received(3);
    await page.getByText('All is delivered.').waitFor();
    forwarder.cut();
    await page.getByText(/^Not current: this was read at/).waitFor();
    await page.getByRole('alert').first().waitFor();
    expect(await page.locator('.stale').count()).toBe(1);
    await page.locator('.stale').getByText('All is delivered.').waitFor();
    await expectGoodLook(page, 'overview-stale');
    forwarder.target = target;
    await page.locator('.stale').waitFor({ state: 'detached' });
    await page.getByText('All is delivered.').waitFor();
    await page.goto(`${host}/relay/#/sources/shop`);
    await page.getByText('Rate, last 20 min').waitFor();
    forwarder.cut();
    await page.locator('.stale').getByText('Rate, last 20 min').waitFor();
    forwarder.target = target;
    await page.locator('.stale').waitFor({ state: 'detached' });
  }, 90_000);
});
