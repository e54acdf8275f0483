import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { expectGoodLook } from '../dashboard/support/dashboard.harness.js';
import { withChromium } from '../sdks/support/chromium.js';
import { status } from '../support/scripted-receiver.js';
import { button, heading, TENANT, usePortal } from './support/portal.harness.js';

/** What the browser keeps of the page, and of a token. */
const kept = (page: Page, token: string) =>
  page.evaluate<{ local: number; cookie: string; session: string[] }>(`({
    local: localStorage.length,
    cookie: document.cookie,
    session: Object.keys(sessionStorage).filter((key) => sessionStorage[key].includes('${token}')),
  })`);

(withChromium ? describe : describe.skip)('A link to the portal', () => {
  const { start, receive, visit, allowRefusals } = usePortal();

  it('leaves no token in the address, the queries of requests, cookies or the local storage, and survives a reload', async () => {
    const { open, host, linkTo } = await start();
    const link = await linkTo();
    const token = link.split('#')[1]!;
    const page = await visit(link, { token: null });
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await heading(page, 'Endpoints').waitFor();
    expect(page.url()).toBe(`${host}/relay/portal/`);
    await page.getByRole('link', { name: 'Events' }).click();
    await heading(page, 'Events').waitFor();
    await page.reload();
    await heading(page, 'Events').waitFor();
    await page.goBack();
    await heading(page, 'Endpoints').waitFor();
    expect(page.url()).toBe(`${host}/relay/portal/`);
    expect(requested.length).toBeGreaterThan(3);
    expect(requested.filter((url) => url.includes(token))).toEqual([]);
    expect(await kept(page, token)).toEqual({ local: 0, cookie: '', session: ['portal-link /relay/portal/'] });
    expect(await page.context().cookies()).toEqual([]);

    const other = await open(); // a tab of its own has nothing of it
    await other.goto(`${host}/relay/portal/?again`);
    await heading(other, 'Endpoints').waitFor();
  });

  it('works where the browser refuses storage', async () => {
    const { linkTo } = await start();
    const page = await visit('about:blank', { token: null, frameHosts: [new URL(await linkTo()).host] });
    await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('refused', 'SecurityError') } })`);
    await page.goto(await linkTo());
    await heading(page, 'Endpoints').waitFor();
  });

  it('that has ended leads back to the application, and a new one goes on where the page was', async () => {
    allowRefusals(401);
    const { open, relay, linkTo } = await start({ portal: { brand: { name: 'Shopkeeper' } } });
    const returnUrl = 'https://shopkeeper.example/settings';
    const page = await open({ returnUrl });
    expect(await page.getByRole('link', { name: 'Back to Shopkeeper' }).getAttribute('href')).toBe(returnUrl);
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByRole('link', { name: 'order.completed' }).waitFor();
    await relay.portal.revoke(TENANT);
    await page.getByRole('link', { name: 'Endpoints' }).click();
    await heading(page, 'This link has ended').waitFor();
    expect(await page.getByRole('link', { name: 'Back to Shopkeeper' }).getAttribute('href')).toBe(returnUrl);
    expect(await page.evaluate("sessionStorage.getItem('portal-link /relay/portal/')")).toBeNull();
    await expectGoodLook(page, 'ended');

    await page.evaluate("location.hash = '#/events'");
    const next = await linkTo();
    await page.evaluate(`location.hash = '${next.split('#')[1]}'`);
    await heading(page, 'Events').waitFor();
    expect(page.url()).toMatch(/\/relay\/portal\/#\/events$/);
  });

  it('that is missing or wrong is asked for, without a word about whose it was', async () => {
    allowRefusals(401);
    const { host } = await start();
    const page = await visit(`${host}/relay/portal/`, { token: null });
    await heading(page, 'This page needs a link').waitFor();
    await expectGoodLook(page, 'missing');
    await page.goto(`${host}/relay/portal/#wrong.token`);
    await heading(page, 'This link has ended').waitFor();
    expect(page.url()).toBe(`${host}/relay/portal/`);
  });

  it('for reading shows everything, and disables what would change something', async () => {
    const receiver = await receive(status(200));
    const { open, ask } = await start();
    await ask('POST', 'endpoints', { url: receiver.url });
    const page = await open({ access: 'read' });
    await page.getByText('Read-only', { exact: true }).waitFor();
    const refused = async (name: string) => {
      expect(await button(page, name).getAttribute('title')).toBe('Your link is read-only.');
      await button(page, name).click({ force: true }); // Playwright would wait until it is enabled
    };
    await refused('Add endpoint');
    await page.getByRole('link', { name: receiver.url }).click();
    await heading(page, receiver.url).waitFor();
    for (const name of ['Pause', 'Send test event…', 'Edit', 'Delete…', 'Show', 'Rotate…', 'Send failed ones again…']) {
      await refused(name);
    }
    await expectGoodLook(page, 'read-only');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await heading(page, receiver.url).waitFor();
    expect(receiver.webhooks).toEqual([]);
  });

  it('shows the name, logo and colour of the application, whose text can be read', async () => {
    const logo =
      'data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%20width=%2240%22%20height=%2240%22/%3E';
    for (const accent of ['#ffd400', '#001040', '#ffffff']) {
      const { open, ask } = await start({ portal: { brand: { name: 'Shopkeeper', logo, accent } } });
      await ask('POST', 'endpoints', { url: 'https://acme.example/hook' });
      const page = await open({ returnUrl: 'https://shopkeeper.example/' });
      await page.getByRole('banner').getByText('Shopkeeper', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'https://acme.example/hook' }).waitFor();
      expect(await page.evaluate("getComputedStyle(document.querySelector('.primary')).backgroundColor")).toBe(
        `rgb(${[1, 3, 5].map((start) => parseInt(accent.slice(start, start + 2), 16)).join(', ')})`,
      );
      expect(await page.evaluate("document.querySelector('.brand img').naturalWidth")).toBe(40);
      await expectGoodLook(page, `accent-${accent.slice(1)}`);
      await page.context().close();
    }
  });
});
