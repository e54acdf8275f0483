import shared from './vitest.config.mjs';

/** Long tests, of processes that are killed or have little memory, which a release must pass and not every change. */
export default {
  ...shared,
  test: { ...shared.test, include: ['test/**/*.release.spec.ts'], exclude: ['**/node_modules/**'] },
};
