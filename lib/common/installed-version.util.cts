import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Returns the version of a package as this one resolves it; `undefined` if it is not found, as in a bundle. Searches
 * upwards from the package's entry, because not every package exports its `package.json`.
 */
export function installedVersion(name: string): string | undefined {
  try {
    for (let folder = dirname(createRequire(__filename).resolve(name)); ; folder = dirname(folder)) {
      const found = readPackage(join(folder, 'package.json'));
      if (found?.name === name) return found.version;
      if (folder === dirname(folder)) return undefined;
    }
  } catch {
    return undefined;
  }
}

function readPackage(path: string): { name?: string; version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { name?: string; version?: string };
  } catch {
    return undefined;
  }
}
