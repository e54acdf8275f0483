import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** Specs that wait longest, for leases to end or for a browser. They run first, so that others fill the time. */
const LONGEST = /\/(simulation|dashboard|bullmq|postgres|cli)\//;

class LongestFirst extends BaseSequencer {
  async sort(files) {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }) => LONGEST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Most tests import the package by its name, and so run what is built and shipped. */
export default defineConfig({
  test: {
    include: ['test/**/*.spec.ts'],
    // Specs of the applications that test:packed makes, and those of vitest.release.config.mjs.
    exclude: ['**/node_modules/**', 'test/packed/**', '**/*.release.spec.ts'],
    setupFiles: ['test/support/restore.ts'],
    pool: 'forks',
    isolate: false, // a worker loads the package once: for each file, that took most of the CPU time
    sequence: { sequencer: LongestFirst },
    maxWorkers: 6, // tests wait more than they compute, but share one Redis and one PostgreSQL
    testTimeout: 120_000,
    hookTimeout: 120_000,
    server: { deps: { external: [/\/dist\//] } },
    disableConsoleIntercept: true,
  },
});
