import shared from './jest.config.mjs';

/** Long tests, of processes that are killed or have little memory, which a release must pass and not every change. */
export default {
  ...shared,
  testMatch: ['**/*.release.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
