import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';

/** Debian's. */
const EXECUTABLE = '/usr/bin/chromium';

/** Time from a signed-in browser's first request to the figures of the overview, in ms; undefined without a browser. */
export async function timeFirstView(host: string, token: string): Promise<number | undefined> {
  if (!existsSync(EXECUTABLE)) return undefined;
  const browser = await chromium.launch({ executablePath: EXECUTABLE });
  try {
    const context = await browser.newContext();
    await context.request.post(`${host}/relay/api/session`, { data: { token } });
    const page = await context.newPage();
    const start = performance.now();
    await page.goto(`${host}/relay/`);
    await page.locator('.figure dd').first().waitFor();
    return performance.now() - start;
  } finally {
    await browser.close();
  }
}
