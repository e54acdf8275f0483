import { defineConfig } from 'vitest/config';

/** Most tests import the package by its name, and so run what is built and shipped. */
export default defineConfig({
  test: {
    include: ['test/**/*.spec.ts'],
    // Specs of the applications that test:packed makes, and those of vitest.release.config.mjs.
    exclude: ['**/node_modules/**', 'test/packed/**', '**/*.release.spec.ts'],
    setupFiles: ['test/support/restore.ts'],
    pool: 'forks',
    isolate: false, // a worker loads the package once: for each file, that took most of the CPU time
    maxWorkers: 5, // tests wait more than they compute, but share one Redis and one PostgreSQL
    testTimeout: 120_000,
    hookTimeout: 120_000,
    server: { deps: { external: [/\/dist\//] } },
    disableConsoleIntercept: true,
  },
});
