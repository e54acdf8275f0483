import type { Page } from 'playwright-core';

/** Counts the clicks on a page from now on; those of the keyboard do not count. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate('clicks = 0; addEventListener("click", ({ detail }) => (clicks += detail > 0 ? 1 : 0), true)');
  return () => page.evaluate<number>('clicks');
}
