import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

/** What may be in the package, and nothing else. */
const CONTENTS = [
  /^(README|CHANGELOG)\.md$/,
  /^LICENSE$/,
  /^package\.json$/,
  /^bin\/nestjs-analytics-relay\.mjs$/,
  /^docs\/specification\.md$/,
  /^schematics\/(collection|nest-add\.schema)\.json$/,
  /^dist\/(cjs|esm)\/[\w./-]+\.(c?js|d\.c?ts)$/,
  /^dist\/cjs\/package\.json$/,
  /^dist\/dashboard\.licenses\.txt$/,
];

/** Licences that an application may have in its tree without a thought. */
const LICENCES = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD'];

interface Locked {
  license?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** The packages that are installed with ours, by name. */
function brought(): Map<string, Locked> {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
  const found = new Map<string, Locked>();
  const add = ({ dependencies, optionalDependencies }: Locked) => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (found.has(name)) continue;
      const locked = packages[`node_modules/${name}`]!;
      found.set(name, locked);
      add(locked);
    }
  };
  add(packages['']!);
  return found;
}

describe('The package', () => {
  it('holds what it needs at run time, its types and its papers', async () => {
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      maxBuffer: 16 * 1024 * 1024,
    });
    const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !CONTENTS.some((allowed) => allowed.test(path)))).toEqual([]);
    for (const path of [
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'dist/esm/index.js',
      'dist/cjs/index.js',
      'dist/dashboard.licenses.txt',
    ]) {
      expect(paths).toContain(path);
    }
  });

  it('names the licence of everything in the dashboard', () => {
    const licences = readFileSync('dist/dashboard.licenses.txt', 'utf8');
    const named = [...licences.matchAll(/^(@?[\w/-]+) \d+\.\d+\.\d+\n\n.*MIT License/gm)].map(([, name]) => name);
    expect(named).toEqual(['@preact/signals', '@preact/signals-core', 'preact', 'uplot']);
  });

  it('brings no dependency whose licence asks for more than to be named', () => {
    const packages = [...brought()];
    expect(packages.map(([name]) => name)).toEqual(['undici']);
    const others = packages.filter(([, { license }]) => !LICENCES.includes(license ?? ''));
    expect(others.map(([name, { license }]) => `${name}: ${license}`)).toEqual([]);
  });
});
