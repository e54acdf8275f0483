import { fileURLToPath } from 'node:url';

import shared from '../../vitest.config.mjs';

/** Tests with the packages of this folder, against PostgreSQL. */
export default {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: { ...shared.test, include: ['compat/orms/*.spec.mjs'], testTimeout: 60_000 },
};
