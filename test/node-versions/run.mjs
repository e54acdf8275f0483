// Runs the smoke suite on real binaries of every Node version that the client supports.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { onEachNode, run } from './install-node.mjs';

const versions = process.argv.length > 2 ? process.argv.slice(2) : ['14', '16', '18', '20', '22', '24', '26'];
const smoke = fileURLToPath(new URL('smoke.mjs', import.meta.url));

onEachNode(versions, (bin) => run(join(bin, 'node'), [smoke]));
