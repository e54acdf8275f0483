import { isPromise } from 'node:util/types';

/**
 * Whether a value is a promise or another thenable, for a place that accepts neither. A promise's rejection is handled,
 * because nobody else awaits it. `then` of other thenables, such as queries, is not called, as it may run them.
 */
export function isDiscardedPromise(value: unknown): boolean {
  if (isPromise(value)) {
    void Promise.prototype.then.call(value, undefined, () => undefined);
    return true;
  }
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
