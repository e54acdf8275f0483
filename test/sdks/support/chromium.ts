import { existsSync } from 'node:fs';

import { type Browser, chromium } from 'playwright-core';

/** Debian's headless shell, which takes half the CPU of its Chromium. */
const EXECUTABLE = '/usr/bin/chromium-headless-shell';

/** Whether tests that need Chromium are to run: where it is installed, and in CI, which fails without it. */
export const withChromium = existsSync(EXECUTABLE) || process.env.CI === 'true';
if (!withChromium) console.warn(`Skipped: there is no ${EXECUTABLE} (apt-get install chromium-headless-shell)`);

/**
 * A headless Chromium with a new profile, which finds no host but those of loopback.
 *
 * @param host name of one more host, at 127.0.0.1
 */
export function launchChromium(host = 'none.invalid'): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--host-resolver-rules=MAP ${host} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
    ],
  });
}
