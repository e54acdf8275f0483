import { createHmac } from 'node:crypto';

import { memoryQueue } from 'nestjs-analytics-relay';
import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { onFastify } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { READ_TOKEN, TOKEN, track } from '../webhook-destination/admin/api/support.js';
import { expectGoodLook, signIn, useDashboard } from './support/dashboard.harness.js';

const HOSTILE = '"><img src=x onerror=alert(1)>\u202e\u2066 ${x} é😀';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
/** The value beside a name in a list of facts. */
const fact = (page: Page, name: string) => page.locator(`dt:text-is("${name}") + dd`);

(withChromium ? describe : describe.skip).each(onFastify)('Destinations on $platform', ({ createAdapter }) => {
  const { open, visit, allowRefusals } = useDashboard();

  const start = (settings: Parameters<typeof open>[1] = {}) =>
    open(createAdapter(), { hash: '#/destinations', ...settings, options: { registry: 'store', ...settings.options } });

  /** Opens the page of crm, a stored destination, the only one. */
  const openStored = async () => {
    const { page, relay, receiver } = await start({ options: { destinations: [] } });
    await relay.destinations.create({ name: 'crm', urls: [receiver.url] });
    await page.goto(`${page.url()}/crm`);
    return { page, relay };
  };

  it('of a tenant lead to what the tenant sees in the portal', async () => {
    const { page, host, relay, receiver } = await start({
      options: { destinations: [], portal: { secret: 'x'.repeat(32) } },
    });
    await relay.destinations.create({ name: 'crm', urls: [receiver.url], metadata: { tenant: 'acme' } });
    const reader = await visit(`${host}/relay/`, { hash: '#/destinations/crm', token: READ_TOKEN });
    expect(await fact(reader, 'Tenant').textContent()).toBe('acme');
    const opened = reader.context().waitForEvent('page');
    await button(reader, 'View as tenant').click();
    const portal = await opened;
    await portal.getByRole('link', { name: receiver.url }).waitFor();
    expect(await portal.getByRole('button', { name: 'Add endpoint' }).isEnabled()).toBe(false);
    await page.goto(`${page.url()}/crm`);
    await expectGoodLook(page, 'destination-tenant');
  });

  it('are created by a form, with a secret that is shown once, and receive', async () => {
    allowRefusals(400, 409);
    const { page, relay, receiver, get } = await start();
    await page.getByRole('row').filter({ hasText: 'Webhooks' }).filter({ hasText: 'code' }).waitFor();
    await button(page, 'New destination').click();
    await heading(page, 'New destination').waitFor();
    await waitFor(async () => (await page.evaluate("document.activeElement.tagName === 'H1'")) === true);
    await page.getByLabel('Name', { exact: true }).fill('crm');
    await page.getByLabel('URL 1').fill('ftp://receiver.example');
    await page.getByLabel('Concurrency').fill('many');
    await page.getByLabel('Events').fill('Order *\n!Order Viewed');
    await page.getByRole('checkbox', { name: 'track' }).check();
    await page.getByLabel('Requests', { exact: true }).fill('100');
    await page.getByLabel('Within, in ms').fill('1000');
    await button(page, 'Add header').click();
    await page.getByLabel('Name of header 1').fill('X-Tenant');
    await page.getByLabel('Value of header 1').fill('acme-s3cret');
    await button(page, 'Add entry').click();
    await page.getByLabel('Name of entry 1').fill('tenant');
    await page.getByLabel('Value of entry 1').fill('acme');
    await button(page, 'Create').click();
    const urls = page.getByRole('group', { name: 'URLs' });
    await urls.getByText('Must contain only http or https URLs.').waitFor();
    expect(await page.getByLabel('URL 1').evaluate('document.activeElement.value')).toBe('ftp://receiver.example');
    expect(await page.getByLabel('Concurrency').getAttribute('aria-invalid')).toBe('true');
    const colour = (isInvalid: boolean) =>
      page.evaluate(`getComputedStyle(document.querySelector('input[aria-invalid="${isInvalid}"]')).borderColor`);
    expect(await colour(true)).not.toBe(await colour(false));
    await expectGoodLook(page, 'destination-form');
    await page.getByLabel('URL 1').fill(`${receiver.url}/crm?s3cret`);
    await page.getByLabel('Concurrency').fill('');
    await button(page, 'Create').click();
    const dialog = page.getByRole('dialog', { name: 'New secret' });
    await dialog.getByText('Copy it now. It will not be shown again.').waitFor();
    const secret = await dialog.locator('code').textContent();
    expect(secret).toMatch(/^whsec_/);
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape'); // must not lose it
    await expectGoodLook(page, 'destination-secret');
    await dialog.getByRole('button', { name: 'Copy secret' }).click();
    await dialog.getByText('Secret copied.').waitFor(); // outside of it, nothing can be read out or clicked
    // Without TLS there is no clipboard.
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined });
      document.addEventListener('copy', () => (copied = String(getSelection())))`);
    await dialog.getByRole('button', { name: 'Copy secret' }).click();
    expect(await page.evaluate('copied')).toBe(secret);
    await page.evaluate('document.execCommand = () => false');
    await dialog.getByRole('button', { name: 'Copy secret' }).click();
    await dialog.getByText('Secret could not be copied. Select the text and copy it.').waitFor();
    await dialog.getByRole('button', { name: 'Close this notice' }).last().click();
    await button(page, 'I have stored it').click();
    await heading(page, 'crm').waitFor();
    await page.getByText('X-Tenant').waitFor();
    expect(await page.content()).not.toMatch(/whsec_|s3cret/);
    expect(await get('destinations/crm')).toMatchObject({
      urls: [`${receiver.url}/crm`],
      types: ['track'],
      events: ['Order *', '!Order Viewed'],
      rateLimit: { requests: 100, per: 1_000 },
      metadata: { tenant: 'acme' },
      enabled: true,
      propagateTrace: false,
    });

    await relay.accept('wk_shop', [track('m1', { event: 'Order Viewed' }), track('m2', { event: 'Order Paid' })]);
    await receiver.received(3);
    const received = receiver.webhooks.filter(({ path }) => path.includes('/crm'));
    expect(received.map(({ headers }) => [headers['x-message-id'], headers['x-tenant']])).toEqual([
      ['m2', 'acme-s3cret'],
    ]);
    expect(received[0]!.headers['x-signature']).toBeDefined();
    await waitFor(async () => (await fact(page, 'Delivered').textContent()) === '1');
    expect(await fact(page, 'Delivered').getByRole('link').getAttribute('href')).toBe(
      '#/deliveries?state=delivered&destination=crm',
    );
  });

  it('show as failing when every delivery dies, with the newest failures, also if the search has to go on for them', async () => {
    const queue = memoryQueue()();
    const search = queue.searches.search.bind(queue.searches);
    // As an engine with millions of deliveries, which has read much without finding one.
    vi.spyOn(queue.searches, 'search').mockImplementation((query, page, caller) =>
      query.state === 'dead' && page?.after === undefined
        ? Promise.resolve({ deliveries: [], next: String(Number.MAX_SAFE_INTEGER) })
        : search(query, page, caller),
    );
    const { page, relay, receiver } = await start({ options: { queue: () => queue } });
    receiver.statuses = [410];
    await relay.accept('wk_shop', [track('m1'), track('m2')]);
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 2);
    await button(page, 'Refresh').click();
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await waitFor(async () => (await fact(page, 'Health').textContent()) === 'failing');
    const failures = page.getByRole('region', { name: 'Recent failures' });
    await failures.getByRole('link', { name: 'm1' }).waitFor();
    await failures.getByRole('link', { name: 'm2' }).waitFor();
  });

  it('show an endpoint that was disabled, since when and why, and enable it', async () => {
    const portal = { secret: 'a secret of thirty-two characters' };
    const { page, relay, receiver } = await start({ options: { destinations: [], portal } });
    receiver.statuses = [410, 200];
    await relay.destinations.create({ name: 'crm', urls: [receiver.url], metadata: { tenant: 'acme' } });
    await relay.accept('wk_shop', [track('m1')]);
    await waitFor(async () => (await relay.destinations.get('crm'))!.disabled !== undefined);
    await page.goto(`${page.url()}/crm`);
    const health = (word: string) => waitFor(async () => (await fact(page, 'Health').textContent()) === word);
    await health('endpoint disabled');
    expect(await fact(page, 'Disabled').textContent()).toMatch(/^since .*: it answered 410 Gone$/);
    await expectGoodLook(page, 'destination-endpoint-disabled');
    await button(page, 'Enable endpoint').click();
    await page.getByText('Enabled. Replay its dead deliveries to send what it missed.').waitFor();
    await health('failing');
    expect([await fact(page, 'Disabled').count(), await button(page, 'Enable endpoint').count()]).toEqual([0, 0]);
    await relay.replay({ destination: 'crm' });
    expect(await receiver.taken(1)).toEqual(['m1']);
  });

  it('are paused, resumed, disabled and changed, which holds for what is sent; the rest of their options stays', async () => {
    const { page, relay, receiver, get } = await start({ options: { destinations: [] } });
    const url = `${receiver.url}?s3cret`;
    await relay.destinations.create({ name: 'crm', urls: [url], headers: { 'X-Key': 's3cret' }, events: ['Order *'] });
    await button(page, 'Refresh').click();
    await page.getByRole('link', { name: 'crm' }).click();
    await heading(page, 'crm').waitFor();
    const health = (word: string) => waitFor(async () => (await fact(page, 'Health').textContent()) === word);
    await health('idle');
    await button(page, 'Pause').click();
    await health('paused');
    await relay.accept('wk_shop', [track('m1', { event: 'Order Paid' })]);
    await waitFor(async () => (await fact(page, 'Queued').textContent()) === '1');
    expect(receiver.webhooks).toHaveLength(0);
    await expectGoodLook(page, 'destination');
    await button(page, 'Resume').click();
    expect(await receiver.taken(1)).toEqual(['m1']);
    await health('delivering');

    await button(page, 'Disable…').click();
    await page.getByText('Messages that arrive while it is disabled are never sent to it').waitFor();
    await expectGoodLook(page, 'destination-disable');
    await health('delivering');
    await button(page, 'Disable').click();
    await health('disabled');
    await relay.accept('wk_shop', [track('m2', { event: 'Order Paid' })]);
    await button(page, 'Enable').click();
    await health('delivering');
    await relay.accept('wk_shop', [track('m3', { event: 'Order Paid' })]);
    expect(await receiver.taken(2)).toEqual(['m1', 'm3']);

    await button(page, 'Edit').click();
    await page.getByLabel('Events').fill('Cart *');
    const patched = page.waitForRequest((request) => request.method() === 'PATCH');
    await button(page, 'Save').click();
    expect((await patched).postDataJSON()).toEqual({ events: ['Cart *'] });
    await page.getByText('Cart *').waitFor();
    await relay.accept('wk_shop', [track('m4', { event: 'Cart Filled' })]);
    await receiver.received(3);
    expect(receiver.webhooks[2]).toMatchObject({ path: '/hook?s3cret', headers: { 'x-key': 's3cret' } });

    await button(page, 'Edit').click();
    await button(page, 'Replace URLs').click();
    await page.getByLabel('URL 1').fill(`${receiver.url}/other`);
    await page.getByLabel('Events').fill('');
    await button(page, 'Save').click();
    await heading(page, 'crm').waitFor();
    await waitFor(async () => (await get('destinations/crm')).events === undefined);
    await relay.accept('wk_shop', [track('m5')]);
    await receiver.received(4);
    expect(receiver.webhooks[3]).toMatchObject({ path: '/hook/other', headers: { 'x-key': 's3cret' } });
  });

  it('are moved to a new origin with their headers and secret entered again, or with a new secret', async () => {
    const { page, relay, receiver, get } = await start({ options: { destinations: [] } });
    const headers = { 'X-Key': 's3cret', 'X-Old': 's3cret' };
    await relay.destinations.create({
      name: 'crm',
      urls: ['http://127.0.0.1:1/hook'],
      headers,
      sharedSecret: 's3cret',
    });
    await page.goto(`${page.url()}/crm`);
    await button(page, 'Edit').click();
    expect(await page.getByLabel('Secret', { exact: true }).count()).toBe(0);
    await button(page, 'Replace URLs').click();
    await page.getByLabel('URL 1').fill('http://127.0.0.1:1/other');
    expect(await page.getByLabel('Secret', { exact: true }).count()).toBe(0);
    await page.getByLabel('URL 1').fill(receiver.url);
    await page.getByText('The URLs have a new origin. Enter the current secret to keep it.').waitFor();
    await expectGoodLook(page, 'destination-moved');
    await page.getByLabel('Value of header 1').fill('again');
    await button(page, 'Remove header 2').click();
    await button(page, 'Save').click();
    const dialog = page.getByRole('dialog', { name: 'New secret' });
    expect(await dialog.locator('code').textContent()).toMatch(/^whsec_/);
    await button(page, 'I have stored it').click();
    await heading(page, 'crm').waitFor();
    expect(await get('destinations/crm')).toMatchObject({ urls: [receiver.url], headers: ['X-Key'] });
    await relay.destinations.test('crm');
    expect(receiver.webhooks[0]!.headers).toMatchObject({ 'x-key': 'again' });
  });

  it('are not saved over a change of someone else', async () => {
    const { page, relay, receiver } = await start({ options: { destinations: [] } });
    await relay.destinations.create({ name: 'crm', urls: [receiver.url], metadata: { tenant: 'acme' } });
    await page.goto(`${page.url()}/crm?edit=true`);
    await button(page, 'Add entry').click();
    await page.getByLabel('Name of entry 2').fill('note');
    await relay.destinations.update('crm', { metadata: { tenant: 'acme', plan: 'gold' } });
    await button(page, 'Save').click();
    await page.getByText('Not saved: someone else has changed the destination.').waitFor();
    await button(page, 'Reload').click();
    await waitFor(async () => (await page.getByLabel('Name of entry 2').inputValue()) === 'plan');
    expect(await page.getByRole('alert').count()).toBe(0);
    await button(page, 'Add entry').click();
    await page.getByLabel('Name of entry 3').fill('note');
    await button(page, 'Save').click();
    await page.getByText('The destination has been changed.').waitFor();
    const { metadata } = (await relay.destinations.get('crm'))!;
    expect(metadata).toEqual({ tenant: 'acme', plan: 'gold', note: '' });
  });

  it('are not saved without a part of what was entered', async () => {
    allowRefusals(400);
    const { page, relay, receiver } = await start({ options: { destinations: [] } });
    await relay.destinations.create({ name: 'crm', urls: [receiver.url], metadata: { tenant: 'acme' } });
    await page.goto(`${page.url()}/crm?edit=true`);
    await button(page, 'Add entry').click();
    await page.getByLabel('Name of entry 2').fill('tenant');
    await page.getByLabel('Concurrency').fill('1e999');
    await button(page, 'Save').click();
    await page.getByRole('group', { name: 'Metadata' }).getByText('Must have the name "tenant" only once.').waitFor();
    await button(page, 'Remove entry 2').click();
    await button(page, 'Save').click();
    await page.getByText('Must be a whole number').waitFor();
    expect(await page.getByLabel('Concurrency').getAttribute('aria-invalid')).toBe('true');
  });

  it('are tested with a transform that fails, which is said of each URL', async () => {
    const { page, receiver } = await start({
      hash: '#/destinations/crm',
      destination: {
        name: 'crm',
        transform: () => {
          throw new Error('no revenue');
        },
      },
    });
    await button(page, 'Send test…').click();
    const test = page.getByRole('dialog', { name: 'Send a test' });
    await test.getByRole('button', { name: 'Send', exact: true }).click();
    await test.getByText('no revenue').waitFor();
    expect(await fact(page, 'URL').last().textContent()).toBe(receiver.url);
    expect(await fact(page, 'Result').textContent()).toBe('permanent failure');
    expect(await fact(page, 'Status').textContent()).toBe('no answer');
    expect(receiver.webhooks).toEqual([]);
  });

  it('are tested, rotated and removed, which says what becomes of their deliveries', async () => {
    allowRefusals(400, 404);
    const { page, relay, receiver, get } = await start({
      hash: '#/destinations/crm',
      token: null,
      options: { destinations: [], delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000 } },
    });
    const { sharedSecret } = await relay.destinations.create({ name: 'crm', urls: [receiver.url] });
    await signIn(page, TOKEN);
    receiver.statuses = [503, 200];
    await button(page, 'Send test…').click();
    const test = page.getByRole('dialog', { name: 'Send a test' });
    await test.getByLabel('Event').fill('Order Tested');
    await test.getByLabel('Properties').fill('{');
    await test.getByRole('button', { name: 'Send', exact: true }).click();
    await test.getByText('Must be JSON.').waitFor();
    await test.getByLabel('Properties').fill('{"orderId":"o1"}');
    await page.getByLabel('Event').focus();
    await page.keyboard.press('Enter');
    await test.getByRole('status').filter({ hasText: 'retryable failure' }).filter({ hasText: '503' }).waitFor();
    await expectGoodLook(page, 'destination-test');
    expect(receiver.webhooks[0]!.body).toMatchObject({ event: 'Order Tested', properties: { orderId: 'o1' } });
    await button(page, 'Send again').click();
    await test.getByRole('status').filter({ hasText: 'success' }).filter({ hasText: '200' }).waitFor();
    await page.keyboard.press('Escape');

    await button(page, 'Rotate secret…').click();
    await page.getByLabel('Overlap, in hours').fill('-1');
    await button(page, 'Rotate').click();
    await page.getByText('Must be a number of hours from 0 to 8,760 (365 days).').waitFor();
    await page.getByLabel('Overlap, in hours').fill('2');
    await button(page, 'Rotate').click();
    const rotated = await page.getByRole('dialog', { name: 'New secret' }).locator('code').textContent();
    expect(rotated).not.toBe(sharedSecret);
    await button(page, 'I have stored it').click();
    await fact(page, 'Previous secret').waitFor();
    receiver.statuses = [503];
    await relay.accept('wk_shop', [track('m1')]);
    await receiver.received(3);
    const { raw, headers } = receiver.webhooks[2]!;
    const signedWith = (secret: string) => createHmac('sha1', secret).update(raw).digest('hex');
    expect(headers['x-signature']).toContain(signedWith(rotated!));
    expect(headers['x-signature-previous']).toContain(signedWith(sharedSecret!));
    await page.getByRole('row').filter({ hasText: 'm1' }).filter({ hasText: 'HTTP 503' }).waitFor();

    await waitFor(async () => (await fact(page, 'Waiting').textContent()) === '1');
    await button(page, 'Remove…').click();
    const remove = page.getByRole('dialog', { name: 'Remove this destination?' });
    await remove.getByText('Deliveries in the queue: 1. They become dead').waitFor();
    await expectGoodLook(page, 'destination-remove');
    await remove.getByRole('button', { name: 'Remove' }).click({ force: true });
    expect((await get('destinations/crm')).name).toBe('crm');
    await remove.getByLabel('Type the name to confirm').fill('crm');
    await page.keyboard.press('Enter');
    await page.getByText('No destinations yet.').waitFor();
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 1);
    expect((await relay.deliveries({}))[0]).toMatchObject({ reason: 'destination removed' });
  });

  it('are shown if another of them is opened while the page still loads its file', async () => {
    const { page, relay, receiver } = await start({ hash: '', options: { destinations: [] } });
    await relay.destinations.create({ name: 'crm', urls: [receiver.url] });
    const release = new Promise<() => void>((resolve) => {
      void page.route('**/assets/destinations*.js', (route) => resolve(() => void route.continue()));
    });
    const loading = page.waitForRequest('**/assets/destinations*.js');
    await page.evaluate("location.hash = '#/destinations'");
    const file = (await loading).url();
    // Effects run in timers. These are held, as if the file came between the rendering of the page and its effects.
    await page.evaluate(`(async () => {
      const held = [];
      const { setTimeout, requestAnimationFrame } = window;
      window.setTimeout = window.requestAnimationFrame = (callback) => held.push(callback);
      window.releaseTimers = () => {
        Object.assign(window, { setTimeout, requestAnimationFrame });
        for (const callback of held) callback();
      };
      const changed = new Promise((resolve) => addEventListener('hashchange', resolve));
      location.hash = '#/destinations/crm';
      await changed;
    })()`);
    (await release)();
    await page.evaluate(`import(${JSON.stringify(file)}).then(() => releaseTimers())`);
    await button(page, 'Rotate secret…').waitFor();
  });

  it('keep a new secret on the page until it is stored, also when the session ends', async () => {
    allowRefusals(401);
    const { page } = await openStored();
    await button(page, 'Rotate secret…').click();
    await button(page, 'Rotate').click();
    const dialog = page.getByRole('dialog', { name: 'New secret' });
    const secret = await dialog.locator('code').textContent();
    await page.context().clearCookies();
    await page.getByText('Your session has ended. Sign in again to continue.').waitFor();
    expect(await dialog.locator('code').textContent()).toBe(secret);
    await button(page, 'I have stored it').click();
    await signIn(page, TOKEN);
    await button(page, 'Rotate secret…').waitFor();
    expect(await page.content()).not.toContain('whsec_');
  });

  it('may have been changed without an answer, which the page says before the secret is rotated again', async () => {
    allowRefusals(0);
    const { page } = await openStored();
    await page.route('**/rotate-secret', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button(page, 'Rotate secret…').click();
    await button(page, 'Rotate').click();
    await page.getByText('The relay did not answer, but may have received the request; check').waitFor();
    await page.getByText('An earlier secret still signs too. Rotating again ends it at once').waitFor();
  });

  it('that someone else removes are not shown as if they still existed', async () => {
    allowRefusals(404);
    const { page, relay } = await openStored();
    await fact(page, 'Health').waitFor();
    await relay.destinations.remove('crm');
    await page.getByText('Destination "crm" does not exist.').waitFor();
    expect(await fact(page, 'Health').count()).toBe(0);
    expect(await button(page, 'Send test…').count()).toBe(0);
  });

  it('of the options, and in a read-only session, cannot be changed', async () => {
    allowRefusals(404);
    const { page, host } = await start({ hash: '#/destinations/Webhooks' });
    await page.getByText("It is set in the application's code. It cannot be changed here.").waitFor();
    for (const name of ['Edit', 'Pause', 'Disable…', 'Rotate secret…', 'Set secret…', 'Remove…']) {
      if ((await button(page, name).count()) === 0) continue;
      expect(await button(page, name).getAttribute('aria-disabled')).toBe('true');
      await button(page, name).click({ force: true });
    }
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await button(page, 'Send test…').getAttribute('aria-disabled')).toBe('false');

    const reader = await visit(`${host}/relay/`, { hash: '#/destinations/crm?edit=true', token: READ_TOKEN });
    await reader.getByText('Destination "crm" does not exist.').waitFor();
    const changes: string[] = [];
    reader.on('request', (request) => request.method() !== 'GET' && changes.push(request.url()));
    await reader.goto(`${host}/relay/#/destinations?create=true`);
    await reader.getByLabel('Name', { exact: true }).fill('crm');
    await reader.getByLabel('URL 1').fill('https://receiver.example/');
    await reader.keyboard.press('Enter');
    await reader.getByRole('button', { name: 'Create' }).click({ force: true });
    await reader.goto(`${host}/relay/#/destinations/Webhooks`);
    for (const name of ['Edit', 'Pause', 'Disable…', 'Send test…', 'Remove…']) {
      await reader.getByRole('button', { name, exact: true }).click({ force: true });
    }
    expect([await reader.getByRole('dialog').count(), changes]).toEqual([0, []]);
  });

  it('show names, metadata and URLs from outside as text', async () => {
    const { page, relay, host } = await start({ options: { destinations: [] } });
    await relay.destinations.create({
      name: HOSTILE,
      urls: ['https://user:s3cret@receiver.example/<b>?s3cret'],
      metadata: { [HOSTILE.slice(0, 40)]: HOSTILE.repeat(10) },
      events: [HOSTILE],
      headers: { 'X-Key': 's3cret' },
      integration: HOSTILE,
    });
    await button(page, 'Refresh').click();
    await page.getByRole('link', { name: '<img src=x onerror=alert(1)>\\u202e' }).click();
    await page.getByRole('heading', { level: 2, name: 'Options' }).waitFor();
    await expectGoodLook(page, 'destination-hostile');
    const text = (await page.locator('main').textContent()) ?? '';
    expect(text).not.toMatch(/[\u202e\u2066]/);
    expect(await page.content()).not.toContain('s3cret');
    expect(await page.locator('main img').count()).toBe(0);
    await button(page, 'Edit').click();
    await page.getByLabel('Concurrency').fill('3');
    await button(page, 'Save').click();
    await waitFor(async () => (await relay.destinations.get(HOSTILE))!.concurrency === 3);
    expect(await relay.destinations.get(HOSTILE)).toMatchObject({ events: [HOSTILE], integration: HOSTILE });
    await button(page, 'Remove…').click();
    await page
      .getByLabel('Type the name to confirm')
      .fill(HOSTILE.replace(/[\u202e\u2066]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`));
    await page.keyboard.press('Enter');
    await page.getByText('No destinations yet.').waitFor();
    expect(page.url()).toBe(`${host}/relay/#/destinations`);
  });

  it('are listed in pages: of 10,000 the first come at once, and each is found by name or metadata', async () => {
    const { page, receiver } = await start({
      options: {
        destinations: Array.from({ length: 10_000 }, (_, index) => ({
          name: `customer-${String(index).padStart(5, '0')}`,
          urls: ['https://receiver.example/customers/webhooks'],
          metadata: { tenant: `t${index % 5_000}` },
        })),
      },
    });
    const rows = page.getByRole('table').getByRole('row');
    await page.getByText('50 shown').waitFor();
    expect(await rows.count()).toBe(51);
    await button(page, 'More').click();
    await page.getByText('100 shown').waitFor();
    await expectGoodLook(page, 'destinations');
    await page.setViewportSize({ width: 1_440, height: 900 });
    const width = await page.evaluate<number[]>(`(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(
      document.querySelector('.table-frame'))`);
    expect(width[0]).toBe(width[1]); // nothing is scrolled sideways
    await page.getByLabel('Metadata', { exact: true }).fill('tenant');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.validity.valueMissing')).toBe(true); // a name alone finds nothing
    await page.getByLabel('Metadata value').fill('t4999');
    await page.keyboard.press('Enter');
    await page.getByText('2 shown (all)').waitFor();
    await page.getByRole('link', { name: 'customer-09999' }).waitFor();
    await page.getByLabel('Metadata', { exact: true }).fill('');
    await page.getByLabel('Metadata value').fill('');
    await page.getByLabel('Name', { exact: true }).fill('R-07000');
    await page.getByLabel('Order').focus();
    await page.keyboard.press('N'); // orders by name
    await page.waitForURL(/sort=name/);
    expect(await page.evaluate('document.activeElement.labels?.[0]?.textContent')).toBe('Order');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('R-07000');
    await page.getByLabel('Name', { exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'customer-07000' }).click();
    await heading(page, 'customer-07000').waitFor();
    expect(receiver.webhooks).toEqual([]);
  });
});
