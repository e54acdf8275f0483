import { AsyncResource } from 'node:async_hooks';

import { withoutSpan } from './telemetry/trace-context.js';

/** Made when the package is loaded, which is usually before the first request. */
const root = new AsyncResource('nestjs-analytics-relay');

/**
 * Creates an async context for work that belongs to no single request. It is not part of the request that creates it
 * either: a client may be created, or an application started, in its first one.
 */
export function createAsyncScope(type: string): AsyncResource {
  // The first request may also be the one that loads the package.
  return root.runInAsyncScope(() => withoutSpan(() => new AsyncResource(type)));
}
