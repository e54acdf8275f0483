/**
 * What the promise settles with, unless that takes longer than `timeout` ms.
 * @throws {Error} that says `what` took too long
 */
export function within<T>(timeout: number, promise: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeout / 1_000} s`)), timeout);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
