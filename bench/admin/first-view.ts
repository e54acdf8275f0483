import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';

/** Debian's. */
const EXECUTABLE = '/usr/bin/chromium-headless-shell';

/** Time from a browser's first request, with the sign-in, to the figures of the overview, in ms; undefined without one. */
export async function timeFirstView(host: string, token: string): Promise<number | undefined> {
  if (!existsSync(EXECUTABLE)) return undefined;
  const browser = await chromium.launch({ executablePath: EXECUTABLE });
  try {
    const page = await browser.newPage();
    const start = performance.now();
    await page.goto(`${host}/relay/`);
    await page.getByLabel('Admin token').fill(token);
    await page.keyboard.press('Enter');
    await page.locator('.figure dd').first().waitFor();
    return performance.now() - start;
  } finally {
    await browser.close();
  }
}
