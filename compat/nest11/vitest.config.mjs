import { fileURLToPath } from 'node:url';

import shared from '../../vitest.config.mjs';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

// For the processes that tests start: they have NestJS 11 too, and run the build in ES modules.
const register = new URL('register.mjs', import.meta.url);
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${register.href}`.trim();

/** The same tests with NestJS 11 and, as its applications have it, in CommonJS: they run the package's other build. */
export default {
  root: pathOf('../..'),
  resolve: {
    alias: [
      { find: /^@nestjs\//, replacement: pathOf('node_modules/@nestjs/') },
      { find: /^nestjs-analytics-relay$/, replacement: pathOf('../../dist/cjs/index.js') },
      { find: /^nestjs-analytics-relay\/(\w+)$/, replacement: pathOf('../../dist/cjs/') + '$1/index.js' },
    ],
  },
  test: {
    ...shared.test,
    include: [
      'compat/nest11/*.spec.mjs',
      'test/{analytics,e2e,telemetry,terminus,webhook-destination/http,webhook-destination/ingest}/**/*.spec.ts',
    ],
    // They have packages of ES modules alone, or take long and depend on no version of NestJS.
    exclude: [
      '**/node_modules/**',
      'test/analytics/ended-scope*',
      'test/analytics/foreign-callbacks*',
      'test/analytics/shutdown-order*',
      'test/analytics/transactional*',
      'test/e2e/crash*',
      'test/e2e/upgrades*',
      'test/terminus/shared*',
      'test/webhook-destination/ingest/memory*',
      'test/webhook-destination/ingest/portions*',
    ],
    execArgv: ['--import', new URL('require.mjs', import.meta.url).href],
  },
};
