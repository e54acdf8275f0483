import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** In a declaration, with the name of the file up to `js`. */
const IMPORT = /(?:from |import \(?)['"](\.[^'"]+)js['"]/g;

/**
 * Removes the declarations that no entry point refers to, 2 MB on a disk.
 *
 * @param {URL} root the folder of the package
 */
export function removeInnerDeclarations(root) {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const entries = Object.values(exports).flatMap((entry) => [entry.import?.types, entry.require?.types]);
  const needed = new Set(entries.filter(Boolean).map((path) => fileURLToPath(new URL(path, root))));
  for (const file of needed) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      needed.add(join(dirname(file), path.replace(/(c?)$/, 'd.$1ts')));
    }
  }
  for (const format of ['esm', 'cjs']) {
    const folder = fileURLToPath(new URL(`dist/${format}/`, root));
    for (const path of readdirSync(folder, { recursive: true })) {
      const file = join(folder, path);
      if (/\.d\.c?ts$/.test(path) && !needed.has(file)) rmSync(file);
    }
  }
}
