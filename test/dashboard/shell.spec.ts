import fastifyHelmet from '@fastify/helmet';
import {
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
  UnauthorizedException,
  VersioningType,
} from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import helmet from 'helmet';
import { describe, expect, it } from 'vitest';
import type { IncomingMessage } from 'node:http';
import type { Page } from 'playwright-core';

import { withChromium } from '../sdks/support/chromium.js';
import { onExpress } from '../support/platforms.js';
import { READ_TOKEN, startApi, TOKEN } from '../webhook-destination/admin/api/support.js';
import { waitFor } from '../support/wait-for.js';
import { expectGoodLook, signIn, useDashboard } from './support/dashboard.harness.js';
import { startProxy } from './support/path-rewriting.proxy.js';

/** As Nest's documentation says. */
async function useHelmet(app: INestApplication): Promise<void> {
  if (app.getHttpAdapter().getType() === 'fastify') await (app as NestFastifyApplication).register(fastifyHelmet);
  else app.use(helmet());
}

/** Lets in browsers with the application's session. */
class SessionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<IncomingMessage & { user?: object }>();
    const [, user] = /\bshop=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
    if (user === undefined) throw new UnauthorizedException('sign in to the shop');
    request.user = { username: user };
    return true;
  }
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

(withChromium ? describe : describe.skip).each(onExpress)('The dashboard on $platform', ({ createAdapter }) => {
  const { afterwards, open, visit, allowRefusals } = useDashboard();

  it('signs in with a token, keeps the session over a reload, and signs out', async () => {
    const { page, host } = await open(createAdapter(), { token: null });
    await expectGoodLook(page, 'sign-in');
    expect(await page.title()).toBe('Sign in · Analytics relay');
    await page.keyboard.type(TOKEN);
    await page.keyboard.press('Enter');
    await heading(page, 'Overview').waitFor();
    await expectGoodLook(page, 'shell');
    expect(page.url()).toBe(`${host}/relay/`);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/relay' });
    await page.reload();
    await heading(page, 'Overview').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin token').waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await page.getByLabel('Admin token').waitFor();
  });

  it('says that a token is wrong, and how long too many must wait', async () => {
    allowRefusals(401, 429);
    const { page, json } = await open(createAdapter(), { token: null });
    await page.getByLabel('Admin token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('This token is wrong.').waitFor();
    await expectGoodLook(page, 'wrong-token');
    await Promise.all(Array.from({ length: 9 }, () => json('POST', 'session', { body: { token: 'x' }, token: null })));
    await page.keyboard.press('Enter');
    await page.getByText(/Too many wrong tokens\. Try again in \d+ (s|min)\./).waitFor();
  });

  it('returns to the sign-in when the session has ended, and then to the page', async () => {
    allowRefusals(401);
    const { page } = await open(createAdapter(), { destination: { name: 'crm' } });
    await heading(page, 'Overview').waitFor();
    await page.context().clearCookies();
    await page.evaluate(`location.hash = '#/destinations/crm?a=b'`); // which asks several things at once
    await page.getByText('Your session has ended. Sign in again to continue.').waitFor();
    await page.waitForLoadState('networkidle');
    await page.getByText('Your session has ended. Sign in again to continue.').waitFor();
    await signIn(page, TOKEN);
    await heading(page, 'crm').waitFor();
    expect(page.url()).toContain('#/destinations/crm?a=b');
  });

  it('says that a session is read-only', async () => {
    const { page } = await open(createAdapter(), { token: READ_TOKEN });
    await page.getByText('Read-only', { exact: true }).waitFor();
  });

  it('works below a global prefix with versions, and beside helmet', async () => {
    const { host } = await startApi(afterwards, createAdapter(), {
      prepare: async (app) => {
        app.setGlobalPrefix('my/app').enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
        await useHelmet(app);
      },
    });
    expect((await fetch(`${host}/other`)).headers.get('x-dns-prefetch-control')).toBe('off');
    for (const path of ['/my/app/relay', '/relay']) {
      const page = await visit(`${host}${path}/`);
      await heading(page, 'Overview').waitFor();
      expect((await page.context().cookies()).map((cookie) => cookie.path)).toEqual([path]);
    }
  });

  it('works behind a proxy that rewrites the path', async () => {
    const { host } = await startApi(afterwards, createAdapter());
    const proxy = await startProxy(afterwards, host, '/tools/x');
    const page = await visit(`${proxy}/relay/`);
    await heading(page, 'Overview').waitFor();
    await page.reload();
    await heading(page, 'Overview').waitFor();
    expect((await page.context().cookies()).map((cookie) => cookie.path)).toEqual(['/tools/x/relay']);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin token').waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('asks for no token where a guard of the application decides', async () => {
    allowRefusals(401);
    const { host } = await startApi(afterwards, createAdapter(), {
      admin: { guard: SessionGuard, access: () => 'read' },
    });
    const page = await visit(`${host}/relay/`, { token: null, cookies: { shop: 'ann' } });
    await heading(page, 'Overview').waitFor();
    await page.getByText('ann', { exact: true }).waitFor();
    await page.getByText('Read-only', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText("The application's guard refused access: sign in to the shop").waitFor();
    expect(await page.getByLabel('Admin token').count()).toBe(0);
  });

  it('says that the session has ended where the guard forbids what it allowed, also on a page not loaded yet', async () => {
    allowRefusals(403);
    let isAllowed = true;
    class Gate extends SessionGuard {
      override canActivate(context: ExecutionContext): boolean {
        return super.canActivate(context) && isAllowed;
      }
    }
    const { host } = await startApi(afterwards, createAdapter(), { admin: { guard: Gate, access: () => 'read' } });
    const page = await visit(`${host}/relay/`, { token: null, cookies: { shop: 'ann' } });
    await heading(page, 'Overview').waitFor();
    isAllowed = false;
    // The page that is not loaded asks for the session once more; an answer of 200 would need no click.
    const refused = page.waitForResponse((answer) => answer.url().endsWith('/api/session') && answer.status() === 403);
    await page.evaluate("location.hash = '#/explain'");
    await refused;
    await page.getByText('Your session has ended. Sign in to the application again, then try again.').waitFor();
    isAllowed = true;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Your session has ended.').waitFor({ state: 'detached' });
  });

  it('is used by keyboard: skip link, menu, theme', async () => {
    const { page } = await open(createAdapter(), { browser: { viewport: { width: 360, height: 800 } } });
    await heading(page, 'Overview').waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await waitFor(async () => (await page.evaluate("document.activeElement.tagName === 'H1'")) === true);
    const menu = page.getByRole('button', { name: 'Menu' });
    await menu.focus();
    await page.keyboard.press('Enter');
    expect(await menu.getAttribute('aria-expanded')).toBe('true');
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    await page.getByLabel('Theme').selectOption('dark');
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
    await page.reload();
    await heading(page, 'Overview').waitFor();
    expect(await page.getByLabel('Theme').inputValue()).toBe('dark');
  });

  it('moves the focus to the heading of a page that is loaded first, and says when one cannot be', async () => {
    allowRefusals(404);
    const { page } = await open(createAdapter());
    await heading(page, 'Overview').waitFor();
    await page.getByRole('link', { name: 'Users' }).click();
    await heading(page, 'Users').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Users');
    expect(await page.title()).toBe('Users · Analytics relay');
    // As after an update of the relay.
    await page.route('**/assets/explain*', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Explain' }).click();
    await heading(page, 'This page could not be loaded').waitFor();
    await page.unroute('**/assets/explain*');
    await page.getByRole('button', { name: 'Reload the dashboard' }).click();
    await heading(page, 'Explain').waitFor();
  });

  it('has a page for a hash that names none', async () => {
    const { page } = await open(createAdapter(), { hash: '#/%ff/none' });
    await heading(page, 'Unknown page').waitFor();
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await heading(page, 'Overview').waitFor();
    await waitFor(async () => (await page.evaluate("document.activeElement.tagName === 'H1'")) === true);
  });
});
