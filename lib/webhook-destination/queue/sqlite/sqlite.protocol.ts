import type { DeliveryCount } from '../delivery-queue.interface.js';
import type { ClaimLimit } from '../embedded/delivery-store.interface.js';
import type { CheckedQuery } from '../query.check.js';
import type { Retention, RetentionBound } from '../retention.options.js';
import type { SqliteClaim } from './sqlite.database.js';
import type {
  DeliveredRows,
  InsertedBatch,
  NewBatchRow,
  SettlementRow,
  Slice,
  WholeDeliveryRow,
} from './sqlite.rows.js';

/** What the thread is started with. */
export interface SqliteWorkerData {
  path: string;
  messageIds: Required<RetentionBound>;
  /** Size in bytes from which nothing is inserted. */
  maxBytes: number | undefined;
  /** Whether nothing is to change: only `list` and `counts` are called, and leases end in what they show alone. */
  isReadOnly: boolean;
  /** Deliveries whose leases go on. */
  leased: number[];
  /** The queue's time, in ms since the epoch. */
  now: number;
  /** Memory of the `ThreadLock`. */
  lock: SharedArrayBuffer;
  /** The file from which the thread requires `libsql`. */
  driver: string;
}

/** What a thread is started with that checks the copy of a backup, and ends. */
export interface CopyCheckData {
  copy: string;
  /** As in {@link SqliteWorkerData}. */
  driver: string;
}

/** What a check found: no reason when the copy is complete and undamaged. */
export interface CopyCheck {
  reason?: string;
  /** Whether the copy's disk or folder is at fault, not what was copied. */
  isFaultOfPlace?: boolean;
}

/** What the thread that runs the SQL can be asked to do. */
export interface SqliteOperations {
  open(): void;
  /** Undefined, with nothing inserted, where the file holds `maxBytes`. */
  insert(batches: NewBatchRow[], now: number): InsertedBatch[] | undefined;
  claim(destination: string, limit: ClaimLimit, now: number): SqliteClaim;
  /** Ids of those that were not leased, and so are not settled. */
  settle(delivered: DeliveredRows, others: SettlementRow[], now: number): number[];
  list(query: CheckedQuery, before: number, limit: number): Slice<WholeDeliveryRow[]>;
  counts(): DeliveryCount[];
  replay(query: CheckedQuery, now: number): string[];
  purge(query: CheckedQuery, before: number): Slice<number>;
  /** Overwrites what a portion of pages has beside its rows; answers with the first page of the next portion. */
  scrub(page: number): number | undefined;
  /** Throws while the log may hold what was purged. */
  confirmPurge(): void;
  sweep(retention: Retention, now: number): number;
  /** Gives a portion of free pages back; answers whether there are more to give back. */
  shrink(): boolean;
  close(): void;
}

export type SqliteOperation = keyof SqliteOperations;

/** A call on its way to the thread. */
export type SqliteCall = {
  [O in SqliteOperation]: { id: number; operation: O; args: Parameters<SqliteOperations[O]> };
}[SqliteOperation];

/** What became of a call: its result, or why it failed. */
export interface SqliteAnswer {
  id: number;
  result?: unknown;
  error?: string;
}
