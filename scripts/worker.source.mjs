import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const MODULE = 'stores/sqlite/sqlite-worker.source.js';

/**
 * Bundles the SQLite worker into one text, and writes it as a module of both builds.
 *
 * A thread that starts from a text needs no file that a bundler would have to know and carry along.
 *
 * @param {URL} root the folder of the package
 */
export async function writeWorkerSource(root) {
  const { outputFiles } = await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: ['lib/stores/sqlite/sqlite.worker.ts'],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    minifyWhitespace: true, // the text is in both builds; names stay for stack traces
    write: false,
  });
  const source = JSON.stringify(outputFiles[0].text);
  writeFileSync(new URL(`dist/esm/${MODULE}`, root), `export const sqliteWorkerSource = ${source};\n`);
  writeFileSync(new URL(`dist/cjs/${MODULE}`, root), `"use strict";\nexports.sqliteWorkerSource = ${source};\n`);
}
