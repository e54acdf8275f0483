import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build, context } from 'esbuild';

/** The browser applications: the folder of each, and the module that its pages and files become. */
const APPLICATIONS = [
  {
    folder: 'dashboard',
    module: 'webhook-destination/admin/dashboard/dashboard-assets.source.js',
    name: 'dashboardAssets',
  },
  { folder: 'portal', module: 'webhook-destination/portal/portal-assets.source.js', name: 'portalAssets' },
];

const LICENCES = 'dist/dashboard.licenses.txt';

/** Browsers that know `light-dark()`. */
const BROWSERS = ['chrome123', 'firefox120', 'safari17.5'];

/** The code that the portal shows is text, in whatever language. */
const verifyTexts = {
  name: 'verify-texts',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]portal[\\/]verify[\\/]/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8'),
      loader: 'text',
    })),
};

/**
 * @param {URL} root the folder of the package
 * @param {string} folder of the application
 */
function optionsOf(root, { folder }) {
  return {
    absWorkingDir: fileURLToPath(root),
    entryPoints: { main: `${folder}/main.tsx` },
    tsconfig: `${folder}/tsconfig.json`,
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
    plugins: [verifyTexts],
  };
}

/**
 * Bundles the dashboard and the portal, and writes each as one module of both builds: a bundler of the user has no file
 * to carry along.
 *
 * @param {URL} root the folder of the package
 */
export async function writeApplications(root) {
  const inputs = await Promise.all(
    APPLICATIONS.map(async (application) => {
      const result = await build(optionsOf(root, application));
      writeAssets(root, application, result);
      return Object.keys(result.metafile.inputs);
    }),
  );
  writeFileSync(new URL(LICENCES, root), licencesOf(root, inputs.flat()));
}

/**
 * Does the same after each change, until the process ends.
 *
 * @param {URL} root the folder of the package
 */
export async function watchApplications(root) {
  for (const application of APPLICATIONS) {
    const onEnd = (result) => {
      if (result.errors.length > 0) return;
      writeAssets(root, application, result);
      console.log(`${application.folder}/ is built.`);
    };
    const options = optionsOf(root, application);
    const write = { name: 'write', setup: (watched) => watched.onEnd(onEnd) };
    const watched = await context({ ...options, plugins: [...options.plugins, write], logLevel: 'warning' });
    await watched.watch();
  }
}

function writeAssets(root, { folder, module, name }, { outputFiles, metafile }) {
  const files = outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]);
  const nameOf = (end) => files.find(([file]) => file.startsWith('main-') && file.endsWith(end))[0];
  const page = readFileSync(new URL(`${folder}/index.html`, root), 'utf8')
    .replace('main.tsx', `assets/${nameOf('.js')}`)
    .replace('main.css', `assets/${nameOf('.css')}`)
    .replace('<link rel="modulepreload" href="" />', preloadsOf(metafile, `assets/${nameOf('.js')}`).join('\n    '));
  const source = JSON.stringify({
    page,
    files: Object.fromEntries(
      files.map(([file, contents]) => [file, gzipSync(contents, { level: 9 }).toString('base64')]),
    ),
  });
  for (const format of ['esm', 'cjs']) mkdirSync(new URL(`dist/${format}/${module}/..`, root), { recursive: true });
  writeFileSync(new URL(`dist/esm/${module}`, root), `export const ${name} = ${source};\n`);
  writeFileSync(new URL(`dist/cjs/${module}`, root), `"use strict";\nexports.${name} = ${source};\n`);
}

/** Loads what the first file imports together with it. */
function preloadsOf({ outputs }, file) {
  return outputs[file].imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="${path}" />`);
}

/** The licences of the packages that the bundles have parts of. */
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
