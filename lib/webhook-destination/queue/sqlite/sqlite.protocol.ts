import type { DeliveryStore } from '../embedded/delivery-store.interface.js';

type Operation = keyof DeliveryStore;

/** A call of the store's, on its way to the thread that runs the SQL. */
export type SqliteCall = {
  [O in Operation]: { id: number; operation: O; args: Parameters<DeliveryStore[O]> };
}[Operation];

/** What became of a call: its result, or why it failed. */
export interface SqliteAnswer {
  id: number;
  result?: unknown;
  error?: { message: string; code: string | undefined };
}
