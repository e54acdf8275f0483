import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build, context } from 'esbuild';

const MODULE = 'webhook-destination/admin/dashboard/dashboard-assets.source.js';

const LICENCES = 'dist/dashboard.licenses.txt';

/** Browsers that know `light-dark()`. */
const BROWSERS = ['chrome123', 'firefox120', 'safari17.5'];

/** @param {URL} root the folder of the package */
function optionsOf(root) {
  return {
    absWorkingDir: fileURLToPath(root),
    entryPoints: { main: 'dashboard/main.tsx' },
    tsconfig: 'dashboard/tsconfig.json',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: BROWSERS,
    legalComments: 'none', // the licences have a file of their own
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
  };
}

/**
 * Bundles the dashboard, and writes it as one module of both builds: a bundler of the user has no file to carry along.
 *
 * @param {URL} root the folder of the package
 */
export async function writeDashboard(root) {
  writeAssets(root, await build(optionsOf(root)));
}

/**
 * Does the same after each change, until the process ends.
 *
 * @param {URL} root the folder of the package
 */
export async function watchDashboard(root) {
  const onEnd = (result) => {
    if (result.errors.length > 0) return;
    writeAssets(root, result);
    console.log('The dashboard is built.');
  };
  const plugins = [{ name: 'write', setup: (watched) => watched.onEnd(onEnd) }];
  const watched = await context({ ...optionsOf(root), plugins, logLevel: 'warning' });
  await watched.watch();
}

function writeAssets(root, { outputFiles, metafile }) {
  const files = outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]);
  const nameOf = (end) => files.find(([name]) => name.startsWith('main-') && name.endsWith(end))[0];
  const page = readFileSync(new URL('dashboard/index.html', root), 'utf8')
    .replace('main.tsx', `assets/${nameOf('.js')}`)
    .replace('main.css', `assets/${nameOf('.css')}`)
    .replace('<link rel="modulepreload" href="" />', preloadsOf(metafile, `assets/${nameOf('.js')}`).join('\n    '));
  const source = JSON.stringify({
    page,
    files: Object.fromEntries(
      files.map(([name, contents]) => [name, gzipSync(contents, { level: 9 }).toString('base64')]),
    ),
  });
  for (const format of ['esm', 'cjs']) mkdirSync(new URL(`dist/${format}/${MODULE}/..`, root), { recursive: true });
  writeFileSync(new URL(`dist/esm/${MODULE}`, root), `export const dashboardAssets = ${source};\n`);
  writeFileSync(new URL(`dist/cjs/${MODULE}`, root), `"use strict";\nexports.dashboardAssets = ${source};\n`);
  writeFileSync(new URL(LICENCES, root), licencesOf(root, Object.keys(metafile.inputs)));
}

/** Loads what the first file imports together with it. */
function preloadsOf({ outputs }, file) {
  return outputs[file].imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="${path}" />`);
}

/** The licences of the packages that the bundle has parts of. */
function licencesOf(root, inputs) {
  const names = inputs.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean);
  return [...new Set(names)]
    .sort()
    .map((name) => {
      const folder = new URL(`node_modules/${name}/`, root);
      const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
      return `${name} ${version}\n\n${readFileSync(new URL('LICENSE', folder), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}
