import type {} from 'expect'; // so that the compiler finds what is augmented below; not in the output

import type { AnalyticsMatchers } from './analytics.matchers.js';

declare global {
  // The global expect of @types/jest; without it, a namespace that nothing uses.
  // eslint-disable-next-line @typescript-eslint/no-namespace -- it is theirs
  namespace jest {
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-unused-vars -- as declared there
    interface Matchers<R, T = {}> extends AnalyticsMatchers<R> {}
  }
}

/** The expect of @jest/globals. Where another test framework is used, the package is not there, and this is ignored. */
declare module 'expect' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-unused-vars -- as declared there
  interface Matchers<R extends void | Promise<void>, T = unknown> extends AnalyticsMatchers<R> {}
}
