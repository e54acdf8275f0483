/** Most tests import the package by its name, and so run what is built and shipped. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  // Specs of the applications that test:packed makes, and those of jest.release.config.mjs.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/packed/', '\\.release\\.spec\\.ts$'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          // As tsconfig.json has it: a field without a value is not an own property.
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
        module: { type: 'es6' },
      },
    ],
  },
  testTimeout: 120_000,
  maxWorkers: 3, // tests wait more than they compute, but share one Redis and one PostgreSQL
  workerIdleMemoryLimit: '400MB',
};
