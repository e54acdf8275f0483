// Runs the whole test suite on a real binary of another Node version: npm run test:node -- 24 [options of Vitest]
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { onEachNode, run } from './install-node.mjs';

const [version, ...options] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(version ?? '')) {
  console.error('Say which version: npm run test:node -- 24');
  process.exit(1);
}
const root = fileURLToPath(new URL('../..', import.meta.url));

onEachNode([version], (bin) => {
  // Programs that tests start are of the same version.
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  run(join(bin, 'node'), ['node_modules/vitest/vitest.mjs', 'run', ...options], { cwd: root, env });
});
