import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Afterwards } from './clean-ups.js';

/**
 * A folder for one test's files, and how to remove it.
 *
 * @param afterwards removes it at the end of the test
 */
export async function temporaryFolder(
  afterwards?: Afterwards,
): Promise<{ path: (name: string) => string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'relay-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  afterwards?.(remove);
  return { path: (name) => join(folder, name), remove };
}
