import { RelayError } from '../client/relay.error.js';

/**
 * Settles as the promise does, unless that takes longer than `timeout` ms.
 * @throws {RelayError} that says `what` took too long
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
