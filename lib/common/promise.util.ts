import { isPromise } from 'node:util/types';

/**
 * Whether a value is a promise or another thenable, for a place that takes neither. A promise's rejection counts as
 * handled then: nobody else waits for it. Other thenables, such as queries, may run when `then` is called: it is not.
 */
export function isDiscardedPromise(value: unknown): boolean {
  if (isPromise(value)) {
    void Promise.prototype.then.call(value, undefined, () => undefined);
    return true;
  }
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
