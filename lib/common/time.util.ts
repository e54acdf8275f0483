import { RelayError } from '../client/relay.error.js';

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
