// Writes the bills of materials of both packages, in CycloneDX, into a folder: node scripts/sbom.mjs <folder>
// They list what an application installs with a package, for all platforms, in the versions of package-lock.json, with
// licence and checksum of each. `npm sbom` in this folder would list the samples too, and only this platform's packages.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [out] = process.argv.slice(2);
if (!out) {
  process.stderr.write('Usage: node scripts/sbom.mjs <folder>\n');
  process.exit(1);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** Fields of a manifest that bring an application nothing; its own packages fulfil the peers. */
const UNPUBLISHED = [
  'workspaces',
  'devDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'scripts',
  'overrides',
];

/** The bill of a package with these files. npm names the component by the folder it is in. */
function billOf(manifest, lock) {
  const place = mkdtempSync(join(tmpdir(), 'sbom-'));
  const folder = join(place, manifest.name);
  mkdirSync(folder);
  const published = Object.entries(manifest).filter(([field]) => !UNPUBLISHED.includes(field));
  writeFileSync(join(folder, 'package.json'), JSON.stringify(Object.fromEntries(published)));
  if (lock) writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const npm = (...args) =>
    execFileSync('npm', args, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' });
  try {
    // Removes from the lock what the published package does not bring, and keeps the versions of the rest.
    npm('install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund');
    return JSON.parse(npm('sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'));
  } finally {
    rmSync(place, { recursive: true });
  }
}

function withoutWorkspaces(lock) {
  const entries = Object.entries(lock.packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link);
  return { ...lock, packages: Object.fromEntries(entries) };
}

/** What a bill must have: a reader asks for what is in the package, under which licence, and whether it is unchanged. */
function check({ metadata, components = [] }, { name, version, dependencies, optionalDependencies }) {
  const { component } = metadata;
  const names = components.map((one) => one.name);
  const wanted = Object.keys({ ...dependencies, ...optionalDependencies });
  const faults = [
    ...(component.purl === `pkg:npm/${name}@${version}` && component.name === name
      ? []
      : [`it is of ${component.purl}`]),
    ...wanted.filter((one) => !names.includes(one)).map((one) => `${one} is not in it`),
    ...(wanted.length === 0 ? names.map((one) => `${one} is in it`) : []),
    ...components.filter(({ licenses }) => !licenses?.length).map((one) => `${one.name} has no licence`),
    ...components.filter(({ hashes }) => !hashes?.length).map((one) => `${one.name} has no checksum`),
  ];
  if (faults.length > 0) throw new Error(`The bill of materials of ${name}: ${faults.join('; ')}`);
}

mkdirSync(out, { recursive: true });
for (const [path, lock] of [
  ['package.json', withoutWorkspaces(readJson('package-lock.json'))],
  ['client-package/package.json', undefined],
]) {
  const manifest = readJson(path);
  const bill = billOf(manifest, lock);
  writeFileSync(join(out, `${manifest.name}.cdx.json`), JSON.stringify(bill, undefined, 2));
  check(bill, manifest);
  process.stdout.write(`${manifest.name}: ${(bill.components ?? []).length} packages come with it\n`);
}
