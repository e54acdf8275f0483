import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

const folder = 'client-package';

/** Most bytes of the packed package. */
const MAX_BYTES = 68_000;

function readManifest(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
}

describe('The package of the client alone', () => {
  it('is small, and holds the client of both builds and its papers', async () => {
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: folder,
    });
    const [{ size, files }] = JSON.parse(stdout) as [{ size: number; files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    const allowed =
      /^(README\.md|LICENSE|package\.json|dist\/cjs\/package\.json|dist\/(cjs|esm)\/[\w./-]+\.(js|d\.ts))$/;
    expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'dist/esm/index.js', 'dist/cjs/index.js']));
    expect(size).toBeLessThan(MAX_BYTES);
  });

  it('has the version and the addresses of the main package, runs on Node 14, and depends on nothing', () => {
    const { version, license, homepage, repository, bugs } = readManifest('package.json');
    const manifest = readManifest(`${folder}/package.json`);
    expect(manifest).toMatchObject({ version, license, homepage, repository, bugs, engines: { node: '>=14.18' } });
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
  });

  it('exports what nestjs-analytics-relay/client exports', async () => {
    const own = (await import(`${process.cwd()}/${folder}/dist/esm/index.js`)) as object;
    const ofMain = await import('nestjs-analytics-relay/client');
    expect(Object.keys(own)).toEqual(Object.keys(ofMain));
  });
});
