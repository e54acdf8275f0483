import type { RetentionBound } from '../retention.options.js';
import type { SqliteDatabase } from './sqlite.database.js';

/** How a file is used. */
export interface SqliteFileOptions {
  messageIds: Required<RetentionBound>;
  /** Size in bytes from which nothing is inserted. */
  maxBytes?: number | undefined;
  /** Whether nothing is to change: only `list` and `counts` are called, and leases end in what they show alone. */
  isReadOnly?: boolean;
}

/** What the thread is started with. */
export interface SqliteWorkerData extends SqliteFileOptions {
  path: string;
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
export interface SqliteOperations extends Omit<SqliteDatabase, 'transaction'> {
  open(): void;
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
