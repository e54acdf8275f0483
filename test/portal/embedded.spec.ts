import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from 'vitest';

import { withChromium } from '../sdks/support/chromium.js';
import { status } from '../support/scripted-receiver.js';
import { waitFor } from '../support/wait-for.js';
import { TENANT, usePortal } from './support/portal.harness.js';

/** A page of the application: shows the link that its hash has in a frame, as docs/portal.md says. */
const PAGE = `<!doctype html><html lang="en"><title>Settings</title><h1>Settings</h1>
  <iframe title="Webhooks" style="width: 100%; border: 0"></iframe>
  <script>
    const frame = document.querySelector('iframe');
    const messages = [];
    addEventListener('message', ({ data, source }) => {
      if (source !== frame.contentWindow) return;
      messages.push(data.type);
      if (data.type === 'nestjs-analytics-relay:height') frame.style.height = data.height + 'px';
    });
    frame.src = decodeURIComponent(location.hash.slice(1));
  </script>`;

/** As a browser that blocks storage and cookies of third parties: access to the storage throws. */
const BLOCKED = `if (window !== top) for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches'])
  Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError') } });
  if (window !== top) Object.defineProperty(document, 'cookie', {
    get() { throw new DOMException('blocked', 'SecurityError') },
    set() { throw new DOMException('blocked', 'SecurityError') } })`;

(withChromium ? describe : describe.skip)('In a frame of another site', () => {
  const { afterwards, start, receive, visit, allowRefusals } = usePortal();

  /** The origin of the application, which is another site than the relay's: `none.invalid` is at loopback. */
  async function startApplication(): Promise<string> {
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(PAGE),
    );
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    afterwards(() => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    });
    return `http://none.invalid:${(server.address() as AddressInfo).port}`;
  }

  async function openFrame(width: number) {
    const origin = await startApplication();
    const portal = await start({ portal: { embed: [origin], brand: { name: 'Shopkeeper' } } });
    const link = await portal.linkTo();
    const page = await visit(origin, {
      token: null,
      browser: { viewport: { width, height: 700 } },
      frameHosts: [new URL(portal.host).host],
    });
    await page.addInitScript(BLOCKED);
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Network.setCookieControls', { enableThirdPartyCookieRestriction: true });
    await page.goto(`${origin}/?${width}#${encodeURIComponent(link)}`);
    return { ...portal, page, frame: page.frameLocator('iframe') };
  }

  it.each([360, 1_440])(
    'it works without cookies and storage, and is as high as its content, at %i px',
    async (width) => {
      const receiver = await receive(status(200));
      const { page, frame, ask } = await openFrame(width);
      await frame.getByText('No endpoints yet').waitFor();
      expect(await frame.getByText('Shopkeeper').count()).toBe(0); // the page around it has the name

      await frame.getByRole('button', { name: 'Add endpoint' }).click();
      await frame.getByLabel('URL', { exact: true }).fill(receiver.url);
      await frame.getByLabel('Only these:').check();
      await frame.getByRole('checkbox', { name: 'order.completed' }).check();
      await frame.getByRole('main').getByRole('button', { name: 'Add endpoint' }).click();
      await frame.getByRole('heading', { level: 1, name: receiver.url }).waitFor();
      const fits = 'document.documentElement.scrollHeight <= innerHeight + 1';
      const hasRoom = async () => (await frame.locator('html').evaluate(fits)) === true;
      await waitFor(hasRoom);

      // A dialog is beside its button, in sight, and the frame has room for it.
      await frame.getByRole('button', { name: 'Rotate…' }).click();
      const dialog = frame.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
      await dialog.getByText('New signing secret').waitFor();
      await waitFor(hasRoom);
      await frame.getByRole('button', { name: 'Close', exact: true }).click();

      expect(await ask('GET', 'endpoints')).toMatchObject({ endpoints: [{ url: receiver.url }] });
      expect(await page.context().cookies()).toEqual([]);
      const types = new Set(await page.evaluate<string[]>('messages'));
      expect([...types]).toEqual(['nestjs-analytics-relay:height']);
    },
  );

  it('it asks its page for another link when one has ended, and goes on where it was', async () => {
    allowRefusals(401);
    const { page, frame, relay, linkTo } = await openFrame(1_440);
    await frame.getByRole('link', { name: 'Events' }).click();
    await frame.getByRole('link', { name: 'order.completed' }).click();
    await frame.getByRole('heading', { level: 1, name: 'order.completed' }).waitFor();
    await relay.portal.revoke(TENANT);
    await frame.getByRole('link', { name: 'Endpoints' }).click();
    await frame.getByRole('heading', { level: 1, name: 'This link has ended' }).waitFor();
    await waitFor(async () => (await page.evaluate("messages.includes('nestjs-analytics-relay:ended')")) === true);
    await page.evaluate(`frame.src = ${JSON.stringify(await linkTo())}`);
    await frame.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor();
    expect(await frame.locator('html').evaluate('location.href')).toMatch(/\/relay\/portal\/#\/endpoints$/);
  });
});
