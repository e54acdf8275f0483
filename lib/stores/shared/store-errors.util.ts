import { errorMessage } from '../../client/error.util.js';
import { RelayError } from '../../client/relay.error.js';
import { concealState } from '../../common/concealed.value.js';
import { ClosedError, QueueUnavailableError } from '../../common/relay.errors.js';
import type { DeliveryStore, StoreOwner } from '../../webhook-destination/queue/store/delivery-store.interface.js';

/** How ioredis begins its error for a command without a connection; the rest names an option of its own. */
const DISCONNECTED = "Stream isn't writeable";

type Method = (...args: unknown[]) => unknown;

/**
 * Returns a store without its state, which contains passwords. Where the client of the store fails, its methods reject
 * with a `QueueUnavailableError`, or a `ClosedError` unless the store is open. Neither has a cause: an error of a client
 * holds the command, and so bodies and passwords.
 */
export function concealStore<S extends DeliveryStore>(store: S, name: string): S {
  let isOpen = false;
  const toError = (error: unknown): Error => {
    if (error instanceof RelayError && error.code !== 'timeout') return error;
    if (!isOpen) return new ClosedError('the queue is closed');
    const reason = errorMessage(error);
    return new QueueUnavailableError(
      reason.startsWith(DISCONNECTED) ? `${name} cannot be reached` : `${name}: ${reason}`,
    );
  };
  const conceal = <T extends object>(object: T): T => {
    const methods = Object.entries(concealState(object) as Record<string, Method>).map(([method, call]) => {
      const concealed: Method = (...args) => {
        const result = call(...args);
        return result instanceof Promise ? result.catch((error: unknown) => Promise.reject(toError(error))) : result;
      };
      return [method, concealed];
    });
    return Object.fromEntries(methods) as T;
  };
  const { isShared, fullTurn, registry, series, logs, transactions, peers, due$ } = store;
  const concealed = conceal(store);
  return {
    ...concealed,
    isShared,
    fullTurn,
    // Says itself why it fails.
    open: async (owner: StoreOwner) => {
      await store.open(owner);
      isOpen = true;
    },
    close: () => {
      isOpen = false;
      return concealed.close();
    },
    registry: Object.assign(conceal(registry), { changed$: registry.changed$ }),
    series: conceal(series),
    logs: conceal(logs),
    transactions: transactions && { join: (transaction) => transactions.join(transaction) },
    peers: peers && Object.assign(conceal(peers), { received$: peers.received$ }),
    due$,
  };
}
