import shared from './jest.config.mjs';

/** Long tests that kill processes, which a release must pass and not every change. */
export default {
  ...shared,
  testMatch: ['**/*.release.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
