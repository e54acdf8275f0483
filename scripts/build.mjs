// Builds the package twice, as ES modules and as CommonJS: which one is loaded is the consumer's choice.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const root = new URL('..', import.meta.url);

rmSync(new URL('dist', root), { recursive: true, force: true });
for (const config of ['tsconfig.esm.json', 'tsconfig.cjs.json']) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', config], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
mkdirSync(new URL('dist/cjs', root), { recursive: true });
writeFileSync(new URL('dist/cjs/package.json', root), '{ "type": "commonjs" }\n');
