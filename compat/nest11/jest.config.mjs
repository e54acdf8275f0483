import shared from '../../jest.config.mjs';

const [transformer, options] = shared.transform['^.+\\.ts$'];

/** The same tests with NestJS 11 and, as its applications have it, all in CommonJS: they run the package's other build. */
export default {
  ...shared,
  rootDir: '../..',
  roots: ['<rootDir>/test/analytics', '<rootDir>/test/e2e', '<rootDir>/test/webhook-destination/ingest'],
  // Their processes have the NestJS of the repository.
  testPathIgnorePatterns: ['/node_modules/', 'test/e2e/crash', 'test/webhook-destination/ingest/memory'],
  extensionsToTreatAsEsm: [],
  moduleNameMapper: {
    ...shared.moduleNameMapper,
    '^(@nestjs/.*)$': '<rootDir>/compat/nest11/node_modules/$1',
  },
  transform: { '^.+\\.ts$': [transformer, { ...options, module: { type: 'commonjs' } }] },
};
