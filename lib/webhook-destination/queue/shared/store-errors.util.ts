import { errorMessage } from '../../../client/error.util.js';
import { RelayError } from '../../../client/relay.error.js';
import { concealState } from '../../../common/concealed.value.js';
import { QueueUnavailableError } from '../../../common/relay.errors.js';

type Method = (...args: unknown[]) => unknown;

/**
 * Returns the methods of an object that uses a store, without its state, which contains passwords. Where the client of
 * the store fails, they reject with a `QueueUnavailableError`. It has no cause: an error of a client holds the command,
 * and so bodies and passwords.
 */
export function concealClient<T extends object>(object: T, store: string): T {
  const toError = (error: unknown): Error =>
    error instanceof RelayError && error.code !== 'timeout'
      ? error
      : new QueueUnavailableError(`${store}: ${errorMessage(error)}`);
  const methods = Object.entries(concealState(object) as Record<string, Method>).map(([name, method]) => {
    const call: Method = (...args) => {
      const result = method(...args);
      return result instanceof Promise ? result.catch((error: unknown) => Promise.reject(toError(error))) : result;
    };
    return [name, call];
  });
  return Object.fromEntries(methods) as T;
}
