import './expect.augmentation.js';

import { analyticsMatchers } from './analytics.matchers.js';

export { AnalyticsTestingModule } from './analytics-testing.module.js';
export type { AnalyticsTestingOptions, ProviderOverrider } from './analytics-testing.module.js';
export { analyticsMatchers } from './analytics.matchers.js';
export type { AnalyticsMatchers } from './analytics.matchers.js';
export { AnalyticsRecorder } from './analytics.recorder.js';
export type { WaitOptions } from './analytics.recorder.js';

// Jest has a global expect, and Vitest with `globals: true`. Neither is imported.
(globalThis as { expect?: { extend?: (matchers: object) => void } }).expect?.extend?.(analyticsMatchers);
