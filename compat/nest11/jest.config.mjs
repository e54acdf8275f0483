import shared from '../../jest.config.mjs';

const [transformer, options] = shared.transform['^.+\\.ts$'];

// For the processes that tests start: they have NestJS 11 too, and run the build in ES modules.
const register = new URL('register.mjs', import.meta.url);
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${register.href}`.trim();

/** The same tests with NestJS 11 and, as its applications have it, all in CommonJS: they run the package's other build. */
export default {
  ...shared,
  rootDir: '../..',
  roots: ['analytics', 'e2e', 'telemetry', 'terminus', 'webhook-destination/http', 'webhook-destination/ingest'].map(
    (folder) => `<rootDir>/test/${folder}`,
  ),
  // They have top-level await or packages of ES modules alone, or take long and depend on no version of NestJS.
  testPathIgnorePatterns: [
    '/node_modules/',
    'test/analytics/ended-scope',
    'test/analytics/foreign-callbacks',
    'test/analytics/shutdown-order',
    'test/e2e/crash',
    'test/e2e/upgrades',
    'test/terminus/shared',
    'test/webhook-destination/ingest/memory',
    'test/webhook-destination/ingest/portions',
  ],
  extensionsToTreatAsEsm: [],
  moduleNameMapper: {
    ...shared.moduleNameMapper,
    '^(@nestjs/.*)$': '<rootDir>/compat/nest11/node_modules/$1',
  },
  transform: { '^.+\\.ts$': [transformer, { ...options, module: { type: 'commonjs' } }] },
};
