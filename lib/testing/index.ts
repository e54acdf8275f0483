/**
 * Records events in tests instead of sending them.
 *
 * @module nestjs-analytics-relay/testing
 */

import './expect.augmentation.js';

import { analyticsMatchers } from './analytics.matchers.js';

export {
  AnalyticsTestingModule,
  type AnalyticsTestingOptions,
  type ProviderOverrider,
} from './analytics-testing.module.js';
export { type AnalyticsMatchers, analyticsMatchers } from './analytics.matchers.js';
export { AnalyticsRecorder, type WaitOptions } from './analytics.recorder.js';

// Jest has a global expect, and so has Vitest with `globals: true`. Neither package is imported.
(globalThis as { expect?: { extend?: (matchers: object) => void } }).expect?.extend?.(analyticsMatchers);
