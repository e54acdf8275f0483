import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes `client-package/`, the package `nestjs-analytics-relay-client`, from the client of both builds: what an
 * application without Nest, or on an older Node, installs.
 *
 * @param {URL} root the folder of the package
 */
export function writeClientPackage(root) {
  const folder = new URL('client-package/', root);
  const { version, license, homepage, repository, bugs } = JSON.parse(readFileSync(new URL('package.json', root)));
  const manifest = {
    name: 'nestjs-analytics-relay-client',
    version,
    description: 'Records product analytics events in any Node program and sends them in batches; no dependencies.',
    license,
    homepage,
    repository,
    bugs,
    keywords: ['analytics', 'segment', 'events', 'tracking'],
    type: 'module',
    main: './dist/cjs/index.js',
    module: './dist/esm/index.js',
    types: './dist/cjs/index.d.ts',
    exports: {
      '.': {
        import: { types: './dist/esm/index.d.ts', default: './dist/esm/index.js' },
        require: { types: './dist/cjs/index.d.ts', default: './dist/cjs/index.js' },
      },
      './package.json': './package.json',
    },
    files: ['dist'],
    sideEffects: false,
    engines: { node: '>=14.18' },
  };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const format of ['esm', 'cjs']) {
    const source = new URL(`dist/${format}/client/`, root);
    // Of the error codes, the client needs only the type.
    const filter = (path) => !path.endsWith('error.codes.js');
    cpSync(source, new URL(`dist/${format}/`, folder), { recursive: true, filter });
  }
  cpSync(new URL('lib/client/README.md', root), new URL('README.md', folder));
  cpSync(new URL('LICENSE', root), new URL('LICENSE', folder));
  writeFileSync(new URL('dist/cjs/package.json', folder), '{ "type": "commonjs" }\n');
  writeFileSync(new URL('package.json', folder), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
