import { mkdirSync } from 'node:fs';

import type { AbstractHttpAdapter } from '@nestjs/core';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';

import { launchChromium } from '../../sdks/support/chromium.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { startApi, TOKEN } from '../../webhook-destination/admin/api/support.js';

/** Widths that every page is tested at, in CSS pixels. */
export const VIEWPORTS = [
  { width: 360, height: 800 },
  { width: 1_440, height: 900 },
];

/** Where screenshots are written; none are unless this is set. */
const SCREENSHOTS = process.env.DASHBOARD_SCREENSHOTS;

type ApiOptions = NonNullable<Parameters<typeof startApi>[2]>;

export interface OpenOptions extends ApiOptions {
  browser?: BrowserContextOptions;
  /** Page that opens, as a hash; default: the first one. */
  hash?: string;
  /** Signs in with it; null stays at the sign-in. */
  token?: string | null;
}

export interface VisitOptions extends Pick<OpenOptions, 'browser' | 'hash' | 'token'> {
  /** Cookies the browser already has, by name. */
  cookies?: Record<string, string>;
  /** Hosts of frames in the page, to which requests are no fault. */
  frameHosts?: string[];
}

/**
 * Opens the dashboard in Chromium. Each test fails on an error or warning in the console, which violations of the content
 * security policy are too, and on a request to another host.
 */
export function useDashboard() {
  const afterwards = useCleanUps();
  const faults: string[] = [];
  const refusals = new Set<number>();
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  afterEach(() => {
    refusals.clear();
    expect(faults.splice(0)).toEqual([]);
  });

  /** Opens the dashboard at a URL that ends in `/relay/`. */
  async function visit(
    url: string,
    { browser: options, hash = '', token = TOKEN, cookies = {}, frameHosts = [] }: VisitOptions = {},
  ) {
    const context = await browser.newContext(options);
    afterwards(() => context.close());
    await context.addCookies(Object.entries(cookies).map(([name, value]) => ({ name, value, url })));
    const page = await context.newPage();
    watch(page, [new URL(url).host, ...frameHosts]);
    await page.goto(url + hash);
    if (token !== null) await signIn(page, token);
    return page;
  }

  function watch(page: Page, hosts: string[]): void {
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('console', (message) => {
      const failed = /^Failed to load resource: (?:net::|.* status of (\d+))/.exec(message.text());
      if (failed && refusals.has(Number(failed[1] ?? 0))) return;
      if (['error', 'warning'].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (!['data:', 'blob:'].includes(url.protocol) && !hosts.includes(url.host))
        faults.push(`request: ${request.url()}`);
    });
  }

  return {
    afterwards,
    visit,
    /** Statuses that requests of this test may be refused with, 0 for none: browsers log them as errors. */
    allowRefusals: (...statuses: number[]) => statuses.forEach((status) => refusals.add(status)),
    /** Starts a relay and opens its dashboard. */
    open: async (adapter: AbstractHttpAdapter, { browser: options, hash, token, ...api }: OpenOptions = {}) => {
      const started = await startApi(afterwards, adapter, api);
      return { ...started, page: await visit(`${started.host}/relay/`, { browser: options, hash, token }) };
    },
  };
}

/** Signs in through the form. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Admin token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').waitFor();
}

/**
 * Fails on what keeps people with disabilities from using the page, in which axe has been loaded.
 *
 * @param rules those alone
 */
async function expectAccessible(page: Page, rules?: string[]): Promise<void> {
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${options})`);
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
}

/** Fails if the page is wider than its window. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const [content, window] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
  expect(content).toBeLessThanOrEqual(window!);
}

/** Fails if a table of a narrow window has to be scrolled sideways, or leaves out the titles of its columns. */
async function expectCards(page: Page): Promise<void> {
  const faults = await page.evaluate<string[]>(`[...document.querySelectorAll('.table-frame')]
    .filter((frame) => frame.checkVisibility())
    .flatMap((frame) => [
      ...(frame.scrollWidth > frame.clientWidth ? ['too wide: ' + frame.getAttribute('aria-label')] : []),
      ...[...frame.querySelectorAll('td')]
        .filter((cell) => cell.checkVisibility() && getComputedStyle(cell, '::before').content.length < 3)
        .map((cell) => 'no title: ' + cell.outerHTML.slice(0, 200)),
    ])`);
  expect(faults).toEqual([]);
}

/** What can be acted on where the user is: behind a modal dialog, nothing can. Of radio buttons, Tab reaches one. */
const CONTROLS = `[...(document.querySelector('dialog:modal') ?? document).querySelectorAll(
    'a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((element) => element.checkVisibility() && !element.matches(':disabled, input[type=radio]:not(:checked)'))`;

/** Fails unless Tab reaches each control of the page and shows where it is. The focus is then where it was. */
async function expectKeyboardReach(page: Page): Promise<void> {
  const stops = await page.evaluate<number>(`
    focused = document.activeElement;
    reached = new Map();
    noteFocus = ({ target }) => reached.set(target, getComputedStyle(target).outlineStyle !== 'none');
    document.addEventListener('focusin', noteFocus);
    ${CONTROLS}.reduce((stops, { type }) => stops + (type === 'datetime-local' ? 7 : 1), 2)`); // 7 parts; 2 of the browser
  for (let presses = 0; presses < stops; presses++) await page.keyboard.press('Tab');
  const faults = await page.evaluate<string[]>(`
    document.removeEventListener('focusin', noteFocus);
    focused === document.body ? document.activeElement.blur() : focused.focus();
    ${CONTROLS}.flatMap((element) => {
      const isShown = reached.get(element);
      if (isShown) return [];
      return (isShown === undefined ? 'not reached: ' : 'no outline: ') + element.outerHTML.slice(0, 200);
    })`);
  expect(faults).toEqual([]);
}

/** What each file has looked at: no platform makes a page look different. */
const looks = new Set<string>();

/**
 * Looks at a page at all widths, light and dark, and walks through it by keyboard.
 *
 * @param name of the screenshots, and of the look: one that this file has seen is not repeated
 */
export async function expectGoodLook(page: Page, name: string): Promise<void> {
  const look = `${expect.getState().testPath} ${name}`;
  if (looks.has(look)) return;
  await page.evaluate(axe.source); // not as a script of the page, which its policy forbids
  for (const viewport of VIEWPORTS) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expectAccessible(page, colorScheme === 'dark' ? ['color-contrast'] : undefined); // all that is different
      await expectNoOverflow(page);
      if (viewport.width === 360) await expectCards(page);
      if (colorScheme === 'light') await expectKeyboardReach(page);
      await writeScreenshot(page, `${name}-${viewport.width}-${colorScheme}`, true);
    }
  }
  looks.add(look); // not before: a second try looks again
}

/** Writes a picture of the window, or of the whole page, to the folder `DASHBOARD_SCREENSHOTS`, if it is set. */
export async function writeScreenshot(page: Page, name: string, fullPage = false): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage });
}
