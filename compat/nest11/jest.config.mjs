import shared from '../../jest.config.mjs';

const [transformer, options] = shared.transform['^.+\\.ts$'];

/** The same tests with NestJS 11 and, as its applications have it, all in CommonJS: they run the package's other build. */
export default {
  ...shared,
  rootDir: '../..',
  roots: ['analytics', 'e2e', 'terminus', 'webhook-destination/ingest'].map((folder) => `<rootDir>/test/${folder}`),
  // Their processes have the NestJS of the repository, or they need more than CommonJS.
  testPathIgnorePatterns: [
    '/node_modules/',
    'test/e2e/crash',
    'test/e2e/upgrades',
    'test/terminus/shared',
    'test/webhook-destination/ingest/memory',
  ],
  extensionsToTreatAsEsm: [],
  moduleNameMapper: {
    ...shared.moduleNameMapper,
    '^(@nestjs/.*)$': '<rootDir>/compat/nest11/node_modules/$1',
  },
  transform: { '^.+\\.ts$': [transformer, { ...options, module: { type: 'commonjs' } }] },
};
