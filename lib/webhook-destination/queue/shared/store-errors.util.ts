import { errorMessage } from '../../../client/error.util.js';
import { RelayError } from '../../../client/relay.error.js';
import { concealState } from '../../../common/concealed.value.js';
import { ClosedError, QueueUnavailableError } from '../../../common/relay.errors.js';

/** How ioredis begins its error for a command without a connection; the rest names an option of its own. */
const DISCONNECTED = "Stream isn't writeable";

type Method = (...args: unknown[]) => unknown;

/**
 * Returns the methods of an object that uses a store, without its state, which contains passwords. Where the client of
 * the store fails, they reject with a `QueueUnavailableError`, or a `ClosedError` unless the queue is open. Neither has
 * a cause: an error of a client holds the command, and so bodies and passwords.
 */
export function concealClient<T extends object>(object: T, store: string, isOpen: () => boolean): T {
  const toError = (error: unknown): Error => {
    if (error instanceof RelayError && error.code !== 'timeout') return error;
    if (!isOpen()) return new ClosedError('the queue is closed');
    const reason = errorMessage(error);
    return new QueueUnavailableError(
      reason.startsWith(DISCONNECTED) ? `${store} cannot be reached` : `${store}: ${reason}`,
    );
  };
  const methods = Object.entries(concealState(object) as Record<string, Method>).map(([name, method]) => {
    const call: Method = (...args) => {
      const result = method(...args);
      return result instanceof Promise ? result.catch((error: unknown) => Promise.reject(toError(error))) : result;
    };
    return [name, call];
  });
  return Object.fromEntries(methods) as T;
}
