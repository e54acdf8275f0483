import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';

/** Debian's. */
const EXECUTABLE = '/usr/bin/chromium-headless-shell';

/** Opens the dashboard in a browser, as the documents say, and signs in; resolves with what `act` finds on the page. */
async function inDashboard({ url, token }, act) {
  if (!existsSync(EXECUTABLE)) return `skipped: there is no ${EXECUTABLE}`;
  const browser = await chromium.launch({ executablePath: EXECUTABLE });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByLabel('Admin token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    return await act(page);
  } finally {
    await browser.close();
  }
}

/** Finds a delivery of an event in a state on the page **Deliveries**; resolves with its row. */
export function findInDashboard({ event, state = 'delivered', ...dashboard }) {
  return inDashboard(dashboard, async (page) => {
    await page.getByRole('link', { name: 'Deliveries' }).click();
    const row = page.getByRole('row').filter({ hasText: event }).filter({ hasText: state });
    return (await row.first().innerText()).replace(/\s+/g, ' ');
  });
}

/** Replays the one dead delivery on the page **Dead**, once `reason` is shown and `prepare` has ended. */
export function replayInDashboard({ reason, prepare, ...dashboard }) {
  return inDashboard(dashboard, async (page) => {
    await page.getByRole('link', { name: 'Dead', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: reason });
    const text = (await row.first().innerText()).replace(/\s+/g, ' ');
    await prepare();
    await row.getByRole('button', { name: /^Replay/ }).click();
    await page.getByRole('button', { name: 'Replay 1 delivery' }).click();
    return text;
  });
}
