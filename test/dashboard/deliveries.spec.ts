import { describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { type DeliveryRecord, publicKeyOf, verifySignature, verifyStandardWebhook } from 'nestjs-analytics-relay';
import type { Page } from 'playwright-core';

import { withChromium } from '../sdks/support/chromium.js';
import { platforms } from '../support/platforms.js';
import { type Script, ScriptedReceiver, sequence } from '../support/scripted-receiver.js';
import { waitFor } from '../support/wait-for.js';
import { READ_TOKEN, startApi, track } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, useDashboard } from './support/dashboard.harness.js';
import { BIDI, deep, HOSTILE, LONG, SCRIPT } from './support/hostile.js';
import { portionedQueue } from './support/portioned.queue.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });

/** Texts of the message column. */
const messages = (page: Page) => page.locator('tbody th a').allInnerTexts();

/** Titles of the timeline. */
const steps = (page: Page) => page.locator('.timeline h3').allInnerTexts();

(withChromium ? describe : describe.skip).each(platforms.slice(0, 1))(
  'Deliveries on $platform',
  ({ createAdapter }) => {
    const { afterwards, open, visit, allowRefusals } = useDashboard();

    /** With a delivery that failed twice and is dead, and two that the receiver took. */
    async function startWithDead(sharedSecret = SECRET) {
      const api = await startApi(afterwards, createAdapter(), {
        destination: { name: 'crm', sharedSecret, headers: { 'X-Shop': 'k3y' } },
        options: { delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 100 } },
      });
      const { relay, receiver } = api;
      receiver.statuses = [500, 404, 200];
      const context = { page: { path: '/orders' }, library: { name: 'shop-api', version: '3.1.0' } };
      const _metadata = { recordedBy: 'OrdersController.complete' };
      await relay.accept('wk_shop', [track('m1', { event: 'Order Completed', context, _metadata })]);
      await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 1);
      await relay.accept('wk_shop', [track('m2', { userId: 'u2' }), track('m3', { type: 'identify' })]);
      await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 2);
      const [dead] = await relay.deliveries({ state: 'dead' });
      const url = `${api.host}/relay/`;
      return { ...api, url, id: dead!.id };
    }

    it('are found by their fields, and the search is a link', async () => {
      const { url } = await startWithDead();
      const page = await visit(url, { hash: '#/deliveries' });
      await page.getByText('3 shown (all)').waitFor();
      await expectGoodLook(page, 'deliveries');
      await page.getByLabel('User').fill('u1');
      await page.getByLabel('State').selectOption('dead');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByText('1 shown (all)').waitFor();
      expect(await messages(page)).toEqual(['Order Completed']);
      expect(page.url()).toBe(`${url}#/deliveries?userId=u1&state=dead`);
      await page.getByRole('table').getByText('every URL failed permanently').waitFor();
      await page.getByText('HTTP 404').waitFor();
      await page.reload();
      await page.getByText('1 shown (all)').waitFor();
      expect(await page.getByLabel('User').inputValue()).toBe('u1');
      await page.getByRole('link', { name: 'Clear' }).click();
      await page.getByText('3 shown (all)').waitFor();
      expect(await page.getByLabel('User').inputValue()).toBe('');
      await page.goBack();
      await page.getByText('1 shown (all)').waitFor();
      expect(await page.getByLabel('User').inputValue()).toBe('u1');
    });

    it('say how far back the delivered ones reach, in all and of a destination', async () => {
      const { url, relay } = await startWithDead();
      const page = await visit(url, { hash: '#/deliveries' });
      const inAll = page.getByText('Delivered messages are kept since');
      await inAll.waitFor();
      const since = Date.parse((await inAll.locator('time').getAttribute('datetime'))!);
      const delivered = await relay.deliveries({ state: 'delivered' });
      expect(since).toBeGreaterThanOrEqual(Math.min(...delivered.map(({ acceptedAt }) => acceptedAt)));
      expect(since).toBeLessThanOrEqual(Date.now());
      await visit(url, { hash: '#/deliveries?destination=crm' }).then(async (own) => {
        const ofOne = own.getByText('Delivered messages of this destination are kept since');
        await ofOne.waitFor();
        expect(await ofOne.locator('time').getAttribute('datetime')).toBe(new Date(since).toISOString());
      });
    });

    it('are found by time, in that of the browser', async () => {
      const { url, relay, id } = await startWithDead();
      const [{ acceptedAt } = { acceptedAt: 0 }] = await relay.deliveries({ id });
      const from = new Date(acceptedAt + 1).toISOString();
      const browser = { timezoneId: 'Asia/Kathmandu' };
      const page = await visit(url, { hash: `#/deliveries?from=${from}`, browser });
      await page.getByText('2 shown (all)').waitFor();
      const field = page.getByLabel('Accepted from');
      expect(Date.parse(`${await field.inputValue()}+05:45`)).toBe(Math.floor((acceptedAt + 1) / 1_000) * 1_000);
      await page.getByRole('button', { name: 'Search' }).click();
      expect(page.url()).toContain(encodeURIComponent(from));
      await field.fill('2030-01-31T12:00');
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByText('No deliveries match.').waitFor();
      expect(page.url()).toContain('from=2030-01-31T06%3A15%3A00.000Z');
      await expectGoodLook(page, 'deliveries-none');
    });

    it('are found by a time without a zone, which is UTC as for the API', async () => {
      const { page } = await open(createAdapter(), {
        hash: '#/deliveries?from=2026-01-31T12:00',
        browser: { timezoneId: 'Asia/Kathmandu' },
      });
      await page.getByText('No deliveries match.').waitFor();
      expect(await page.getByLabel('Accepted from').inputValue()).toBe('2026-01-31T17:45');
    });

    it('say which field of a search is at fault', async () => {
      allowRefusals(400);
      const { page } = await open(createAdapter(), { hash: '#/deliveries?state=queued&reason=x' });
      await page.getByText('state must be dead or omitted if reason is given').first().waitFor();
      expect(await page.getByLabel('State').getAttribute('aria-invalid')).toBe('true');
      await expectGoodLook(page, 'deliveries-fault');
      await page.goto(page.url().replace('state=', 'stat='));
      await page.getByText(/Stat is not a field of this query/).waitFor();
    });

    it('are shown in pages, and the focus stays on the button', async () => {
      const { page, relay } = await open(createAdapter());
      await relay.accept(
        'wk_shop',
        Array.from({ length: 120 }, (_, index) => track(`m${index}`)),
      );
      await page.goto(`${page.url()}#/deliveries`);
      await page.getByText('50 shown', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'More' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('100 shown', { exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('120 shown (all)').waitFor();
      expect(await page.locator('tbody tr').count()).toBe(120);
    });

    it('are searched for through empty portions, until the reader stops it', async () => {
      const { queue, gate } = portionedQueue();
      const { page, relay, receiver } = await open(createAdapter(), { options: { queue } });
      await relay.accept('wk_shop', [track('m0', { userId: 'u2' })]);
      for (let index = 1; index < 30; index++) await relay.accept('wk_shop', [track(`m${index}`)]);
      await receiver.received(30);
      await page.goto(`${page.url()}#/deliveries?userId=u2`);
      gate.open(3);
      await page.getByText(/Searched back to/).waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: 'Continue search' }).waitFor();
      await expectGoodLook(page, 'deliveries-stopped');
      expect(await page.getByText('No deliveries match.').count()).toBe(0);
      gate.open(Infinity);
      await page.getByRole('button', { name: 'Continue search' }).click();
      await page.getByText('1 shown (all)').waitFor();
    });

    it('are shown one by one: what happened, in order, and why', async () => {
      const { url, id, receiver } = await startWithDead();
      const page = await visit(url, { hash: '#/deliveries?userId=u1' });
      await page.getByRole('link', { name: 'Order Completed' }).click();
      await heading(page, 'Delivery of Order Completed').waitFor();
      expect(page.url()).toBe(`${url}#/deliveries/${id}`);
      await page.getByText('What happened').waitFor();
      expect(await page.locator('.verdict').innerText()).toContain(
        'Not delivered, after 2 attempts: every URL failed permanently (last: HTTP 404).',
      );
      expect(await steps(page)).toEqual(['Recorded', 'Accepted', 'Routed', 'Attempt 1', 'Attempt 2', 'Dead']);
      const [recorded, , routed, first, second, dead] = await page.locator('.timeline > li').allInnerTexts();
      expect(recorded).toContain(
        "By the sender's clock, in OrdersController.complete, at /orders, with shop-api 3.1.0.",
      );
      expect(routed).toContain('To crm. Its options select this message.');
      expect(first).toMatch(/HTTP 500 retryable failure, after \d+ ms/);
      expect(first).toContain(receiver.url);
      expect(second).toMatch(/after the previous attempt\.[^]*HTTP 404 permanent failure/);
      expect(dead).toContain('Every URL failed permanently.');
      await page.getByText('"event": "Order Completed"').waitFor();
      expect(await page.locator('main').innerText()).not.toContain('k3y');
      await expectGoodLook(page, 'delivery');
      await page.getByRole('link', { name: 'All deliveries for this user' }).click();
      await page.getByText('2 shown (all)').waitFor();
      expect(await messages(page)).toEqual(['identify', 'Order Completed']);
    });

    it('are read again after a failure, without a click', async () => {
      allowRefusals(502);
      const { page, relay, receiver, host } = await open(createAdapter());
      receiver.statuses = [503];
      await relay.accept('wk_shop', [track('m1')]);
      await waitFor(async () => (await relay.deliveries({ state: 'waiting' })).length === 1);
      const [{ id } = { id: '' }] = await relay.deliveries({});
      await page.goto(`${host}/relay/#/deliveries/${id}`);
      await page.locator('.timeline').waitFor();
      expect(await page.locator('.verdict').innerText()).toMatch(
        /The first attempt failed: HTTP 503\. The next is due in \d+ s\. The relay gives up in (4 h|3 h 59 min), at \d\d:\d\d\./,
      );
      await page.route('**/relay/api/deliveries/*', (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }));
      await page.getByText('The answer (502) did not come from the admin API.').waitFor();
      await page.unroute('**/relay/api/deliveries/*');
      await page.getByRole('alert').waitFor({ state: 'detached' });
    });

    it('say that no delivery has an id', async () => {
      allowRefusals(404);
      const { page } = await open(createAdapter(), { hash: '#/deliveries/999' });
      await page.getByText('The queue has no delivery with this id.').waitFor();
    });

    it('are copied as a command that the receiver takes, once the secret is filled in', async () => {
      const { url, id, receiver } = await startWithDead();
      const page = await visit(url, {
        hash: `#/deliveries/${id}`,
        browser: { permissions: ['clipboard-read', 'clipboard-write'] },
      });
      await page.getByRole('button', { name: 'Copy as curl' }).click();
      await page.getByText('Command copied.').waitFor();
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(command).not.toContain(SECRET);
      expect(command).toContain("-H 'X-Shop: <value of X-Shop>'");
      const count = receiver.webhooks.length;
      await promisify(execFile)('sh', ['-c', command.replace('<shared secret>', SECRET)]);
      const { raw, headers } = (await receiver.received(count + 1)).at(-1)!;
      expect(raw).toEqual(receiver.webhooks[0]!.raw);
      expect(headers).toMatchObject({ 'x-message-id': 'm1', 'webhook-id': 'shop:m1' });
      expect(verifySignature(raw, headers['x-signature'], SECRET)).toBe(true);
      expect(verifyStandardWebhook(raw, headers, SECRET)).toBe(true);
    });

    it('are copied without the signature of a private key, which only the relay has', async () => {
      const privateKey = `whsk_${Buffer.alloc(32, 'crm').toString('base64')}`;
      const { url, id } = await startWithDead(privateKey);
      const page = await visit(url, {
        hash: `#/deliveries/${id}`,
        browser: { permissions: ['clipboard-read', 'clipboard-write'] },
      });
      await page.getByRole('button', { name: 'Copy as curl' }).click();
      await page.getByText('Command copied.').waitFor();
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(command).toContain("-H 'webhook-id: shop:m1'");
      expect(command).toContain("-H 'webhook-signature: <value of webhook-signature>'");
      expect(command).not.toMatch(/SECRET|openssl|whsk_/);
      await page.goto(`${url}#/destinations/crm`);
      await page.getByText(publicKeyOf(privateKey)!).waitFor();
      expect(await page.content()).not.toContain('whsk_');
    });

    it('show what the receiver answered, as text, and when to the millisecond', async () => {
      const text = `<h1>Down</h1>\r\n\t${SCRIPT}${BIDI}\x1b[31m`;
      const page500: Script = (response) =>
        void response.writeHead(500, { 'Content-Type': 'text/html' }).end(text + 'x'.repeat(70_000));
      const image: Script = (response) =>
        void response.writeHead(404, { 'Content-Type': 'image/png' }).end(Buffer.from([0x89, 0, 1, 2]));
      const scripted = await ScriptedReceiver.start(sequence(page500, image));
      afterwards(() => scripted.stop());
      const { page, relay, host } = await open(createAdapter(), {
        destination: { urls: [scripted.url] },
        options: { delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 20 } },
      });
      await relay.accept('wk_shop', [track('m1')]);
      await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 1);
      const [{ id, attempts }] = (await relay.deliveries({})) as [DeliveryRecord];
      await page.goto(`${host}/relay/#/deliveries/${id}`);
      const answer = page.getByLabel(/^Answer: text\/html, first 1 KB of [\d,]+ bytes$/);
      await answer.waitFor();
      const shown = await answer.innerText();
      expect(shown).toContain(`<h1>Down</h1>\n\t${SCRIPT}\\u202e\\u2066\\u001b[31mxxx`);
      expect(await page.locator('.timeline img, .timeline h1').count()).toBe(0);
      await page.getByText('Answer: image/png, 4 bytes, not shown because it is not text').waitFor();
      const attempt = page.locator('.step', { hasText: 'Attempt 1' });
      const milliseconds = String(attempts[0]!.startedAt % 1_000).padStart(3, '0');
      expect(await attempt.locator('time').first().innerText()).toContain(`.${milliseconds}`);
      await expectGoodLook(page, 'delivery-answer');
      await page.goto(`${host}/relay/#/destinations/Webhooks`);
      await page.getByRole('button', { name: 'Send test…' }).click();
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByText('Answer: image/png, 4 bytes').waitFor();
    });

    it('are replayed by keyboard, and their progress is followed', async () => {
      const { url, id, relay, receiver } = await startWithDead();
      const page = await visit(url, { hash: `#/deliveries/${id}` });
      await page.getByRole('button', { name: 'Replay…' }).focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Replay this delivery?' });
      await dialog.getByText(receiver.url).waitFor();
      await expectGoodLook(page, 'delivery-replay');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Replay…');
      await page.keyboard.press('Enter');
      await dialog.getByRole('button', { name: 'Replay', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('The delivery is queued again.').waitFor();
      await page.locator('.timeline h3', { hasText: 'Delivered' }).waitFor();
      expect(await steps(page)).toEqual([
        ...['Recorded', 'Accepted', 'Routed', 'Attempt 1', 'Attempt 2'],
        ...['Replayed', 'Attempt 3', 'Delivered'],
      ]);
      expect((await relay.deliveries({ id }))[0]!.state).toBe('delivered');
      await page.getByRole('button', { name: 'Send again…' }).waitFor();
    });

    it('say that their destination is paused, or not in use any more', async () => {
      allowRefusals(404);
      const { page, relay, receiver, host } = await open(createAdapter(), {
        options: { registry: 'store', destinations: [] },
      });
      await relay.destinations.create({ name: 'crm', urls: [receiver.url] });
      const pause = 'The destination is paused: its deliveries wait until it is resumed.';
      receiver.statuses = [404];
      await relay.accept('wk_shop', [track('m1')]);
      await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 1);
      await relay.destinations.pause('crm');
      const [dead] = await relay.deliveries({});
      await page.goto(`${host}/relay/#/dead?destination=crm`);
      await page.getByRole('button', { name: 'Replay all that match…' }).click();
      await page.getByRole('dialog').getByText(pause).waitFor();
      await page.keyboard.press('Escape');
      await page.goto(`${host}/relay/#/deliveries/${dead!.id}`);
      await page.getByRole('button', { name: 'Replay…' }).click();
      await page.getByText(pause).waitFor();
      await page.getByRole('button', { name: 'Replay', exact: true }).click();
      await page.locator('.verdict + .warn-text').getByText(pause).waitFor();
      expect(await steps(page)).toContain('Queued');
      await page.locator('.facts').getByRole('link', { name: 'crm', exact: true }).click();
      await heading(page, 'crm').waitFor();
      await page.goBack();
      await page.locator('.verdict + .warn-text').getByText(pause).waitFor();
      await relay.destinations.update('crm', { enabled: false });
      await page.locator('.verdict + .warn-text').getByText('The destination is disabled').waitFor();
      await relay.destinations.remove('crm');
      await page.locator('.timeline').getByText('destination removed').waitFor();
      await page.getByRole('button', { name: 'Replay…' }).click();
      await page.getByRole('dialog').getByText('This destination is no longer in use.').waitFor();
      expect(await page.getByRole('button', { name: 'Copy as curl' }).count()).toBe(0);
    });

    it('say which other destinations select the message, as far as that is known', async () => {
      const destinations = ['crm', 'mail'].map((name) => ({ name, urls: ['http://127.0.0.1:9/'] }));
      const { page, relay, host } = await open(createAdapter(), { options: { destinations } });
      await relay.accept('wk_shop', [track('m1', { integrations: { All: false, crm: true } })]);
      const [delivery] = await relay.deliveries({});
      await page.goto(`${host}/relay/#/deliveries/${delivery!.id}`);
      await page.getByText('Other destinations, with the current options (1)').click();
      const routed = await page.locator('.timeline > li', { hasText: 'Routed' }).innerText();
      expect(routed).toContain('mail: yes, its delivery');
      expect(routed).toContain("The message's integrations, which are not stored, may have excluded destinations.");
    });

    it('say that nothing was sent where the transform left the message out', async () => {
      const { page, relay, receiver, host } = await open(createAdapter(), {
        destination: { name: 'crm', transform: () => undefined },
      });
      await relay.accept('wk_shop', [track('m1')]);
      await waitFor(async () => (await relay.deliveries({ state: 'delivered' })).length === 1);
      const [left] = await relay.deliveries({});
      await page.goto(`${host}/relay/#/deliveries/${left!.id}`);
      await page.getByText("The destination's transform dropped this message.").waitFor();
      expect((await steps(page)).at(-1)).toBe('Nothing to send');
      expect(receiver.webhooks).toEqual([]);
    });

    it('cannot be replayed by a read-only session, which sees all else', async () => {
      const { url, id, relay } = await startWithDead();
      const page = await visit(url, { hash: `#/deliveries/${id}`, token: READ_TOKEN });
      const replay = page.getByRole('button', { name: 'Replay…' });
      await replay.click({ force: true }); // Playwright would wait until it is enabled
      expect(await replay.getAttribute('title')).toBe('Your session is read-only.');
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await steps(page)).toContain('Attempt 2');
      expect((await relay.deliveries({ id }))[0]!.state).toBe('dead');
    });

    it('show what was sent as text, whatever it is', async () => {
      const { page, relay, receiver, host } = await open(createAdapter(), {
        options: { sources: [{ name: HOSTILE, writeKey: 'wk_shop' }] },
        destination: { name: HOSTILE },
      });
      receiver.statuses = [404];
      const odd = {
        userId: HOSTILE,
        event: HOSTILE,
        context: { page: 7, library: [HOSTILE] },
        _metadata: { recordedBy: HOSTILE },
      };
      const long = LONG.slice(0, 20_000);
      const { accepted } = await relay.accept('wk_shop', [
        track(HOSTILE, { ...odd, properties: { [HOSTILE]: deep(40), long } }),
        track('m2', { event: long, context: { page: { path: deep(5) }, library: { name: HOSTILE } } }),
      ]);
      expect(accepted).toBe(2);
      await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 2);
      await page.goto(`${host}/relay/#/deliveries`);
      await page.getByText('2 shown (all)').waitFor();
      await expectGoodLook(page, 'deliveries-hostile');
      for (const { id } of await relay.deliveries({})) {
        await page.goto(`${host}/relay/#/deliveries/${id}`);
        await page.locator('.timeline').getByText('every URL failed permanently').waitFor();
        await expectGoodLook(page, `delivery-hostile-${id}`);
        expect(await page.locator('main').innerText()).not.toMatch(/[\u202e\u2066]/);
      }
      expect(await page.locator('main img, main script').count()).toBe(0);
      await page.getByRole('link', { name: 'All deliveries of this message' }).click();
      await page.getByText('1 shown (all)').waitFor();
    });
  },
);
