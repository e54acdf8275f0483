import { isPromise } from 'node:util/types';

import { RelayError } from '../client/relay.error.js';

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

/** A promise and the functions that settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T | Promise<T>): void;
  reject(reason: Error): void;
}

/** Creates a promise that its caller settles. A rejection that nothing awaits is not reported as unhandled. */
export function deferred<T>(): Deferred<T> {
  let resolve!: Deferred<T>['resolve'];
  let reject!: Deferred<T>['reject'];
  const promise = new Promise<T>((...settle) => ([resolve, reject] = settle));
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/**
 * Settles when the promise does, or rejects after `timeout` ms.
 * @throws {RelayError} that names `what`, after the timeout
 */
export function within<T>(timeout: number, promise: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new RelayError('timeout', `${what} took longer than ${timeout / 1_000} s`)),
      timeout,
    );
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
