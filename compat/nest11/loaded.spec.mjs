import { createRequire } from 'node:module';

import * as common from '@nestjs/common';
import * as relay from 'nestjs-analytics-relay';
import * as testing from 'nestjs-analytics-relay/testing';
import { expect, it } from 'vitest';

const require = createRequire(import.meta.url);

it('the tests here have NestJS 11 and the build in CommonJS, and load no other NestJS', () => {
  expect(require('@nestjs/common/package.json').version).toMatch(/^11\./);
  expect(common.Injectable).toBe(require('@nestjs/common').Injectable);
  expect(relay.AnalyticsModule).toBe(require('../../dist/cjs/index.js').AnalyticsModule);
  expect(testing.AnalyticsRecorder).toBe(require('../../dist/cjs/testing/index.js').AnalyticsRecorder);
  const loaded = Object.keys(require.cache).filter((file) => file.includes('/@nestjs/'));
  expect(loaded.filter((file) => !file.includes('/compat/nest11/node_modules/'))).toEqual([]);
});
