import { isPromise } from 'node:util/types';

/**
 * Whether a value is a promise or another thenable, where neither is accepted. A promise's rejection is handled,
 * because no other code awaits it. `then` of other thenables, such as queries, is not called, because it may run them.
 */
export function isDiscardedPromise(value: unknown): boolean {
  if (isPromise(value)) {
    void Promise.prototype.then.call(value, undefined, () => undefined);
    return true;
  }
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
