import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';

/** Debian's. */
const EXECUTABLE = '/usr/bin/chromium-headless-shell';

/**
 * Opens the dashboard in a browser, as README says, and finds an event there that was delivered; resolves with what it
 * shows of it.
 */
export async function findInDashboard({ url, token, event }) {
  if (!existsSync(EXECUTABLE)) return `skipped: there is no ${EXECUTABLE}`;
  const browser = await chromium.launch({ executablePath: EXECUTABLE });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByLabel('Admin token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Deliveries' }).click();
    const row = page.getByRole('row').filter({ hasText: event }).filter({ hasText: 'delivered' });
    return (await row.first().innerText()).replace(/\s+/g, ' ');
  } finally {
    await browser.close();
  }
}
