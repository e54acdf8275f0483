import type {} from 'expect'; // lets the compiler find the module augmented below; erased from the output

import type { AnalyticsMatchers } from './analytics.matchers.js';

declare global {
  // The global expect of @types/jest; without that package, the namespace is unused.
  // eslint-disable-next-line @typescript-eslint/no-namespace -- declared by @types/jest
  namespace jest {
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-unused-vars -- as declared there
    interface Matchers<R, T = {}> extends AnalyticsMatchers<R> {}
  }
}

/** The expect of @jest/globals. With another test framework, that package is missing, and this is ignored. */
declare module 'expect' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-unused-vars -- as declared there
  interface Matchers<R extends void | Promise<void>, T = unknown> extends AnalyticsMatchers<R> {}
}
