import { AsyncResource } from 'node:async_hooks';

import { errorStack } from '../error.util.js';
import { emitWarning } from '../warning.util.js';
import { CallbackHold } from './callback-hold.js';
import type { BoundCallback, Callback } from './pending-event.interface.js';

/** Calls listeners and callbacks of the application; their errors never reach the library. */
export class UserCodeCaller {
  private hasWarned = false;

  /**
   * Calls the code. The first error, thrown or rejected, becomes a process warning.
   *
   * @returns A promise fulfilled once the promise that the code returned is settled; undefined if it returned none.
   */
  call(run: () => unknown): Promise<void> | undefined {
    try {
      const result = run();
      if (!isThenable(result)) return undefined;
      return Promise.resolve(result).then(
        () => undefined,
        (error: unknown) => this.warn(error),
      );
    } catch (error) {
      this.warn(error);
      return undefined;
    }
  }

  private warn(error: unknown): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    emitWarning(`A listener or callback failed; delivery continues. ${errorStack(error)}`);
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined | null)?.then === 'function';
}

/** Binds a callback to the async context of the caller. A callback that is not a function is ignored. */
export function bindCallback(callback: Callback | undefined): BoundCallback | undefined {
  if (typeof callback !== 'function') return undefined;
  // Not `AsyncResource.bind`, which passes the first argument as `this` on Node 14.
  const scope = new AsyncResource('AnalyticsCallback');
  return (error, ctx, hold) => scope.runInAsyncScope(() => CallbackHold.run(hold, callback, error, ctx));
}
