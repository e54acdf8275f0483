import type { AnalyticsMatchers } from './analytics.matchers.js';

declare global {
  // The global expect of @types/jest; without it, a namespace that nothing uses.
  // eslint-disable-next-line @typescript-eslint/no-namespace -- it is theirs
  namespace jest {
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-unused-vars -- as declared there
    interface Matchers<R, T = {}> extends AnalyticsMatchers<R> {}
  }
}

// eslint-disable-next-line @typescript-eslint/ban-ts-comment -- there is an error only for who does not have the package
/** @ts-ignore The expect of @jest/globals; the package is not there where another test framework is used. */
declare module 'expect' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-unused-vars -- as declared there
  interface Matchers<R extends void | Promise<void>, T = unknown> extends AnalyticsMatchers<R> {}
}
