import type { RetentionBound } from '../../webhook-destination/queue/retention.options.js';
import type { SqliteFile } from './sqlite-file.js';
import type { SqliteDatabase } from './sqlite.database.js';

/** How a file is used. */
export interface SqliteFileOptions {
  messageIds: Required<RetentionBound>;
  /** Size in bytes from which inserts are refused. */
  maxBytes?: number | undefined;
  /** Whether to change nothing: only `list` and `counts` are called, and only their results show that leases ended. */
  isReadOnly?: boolean;
}

/** Start parameters of the thread. */
export interface SqliteWorkerData extends SqliteFileOptions {
  path: string;
  /** Identity of the file that was open before; undefined if any file may be opened. */
  identity: string | undefined;
  /** Ids of deliveries whose leases continue. */
  leased: number[];
  /** The queue's time, in ms since the epoch. */
  now: number;
  /** Memory of the `ThreadLock`. */
  lock: SharedArrayBuffer;
  /** The file from which the thread requires `libsql`; undefined to use `node:sqlite`. */
  libsql: string | undefined;
}

/** Start parameters of a thread that checks the copy of a backup and ends. */
export interface CopyCheckData {
  copy: string;
  /** As in {@link SqliteWorkerData}. */
  libsql: string | undefined;
}

/** Result of a check; without a reason, the copy is complete and undamaged. */
export interface CopyCheck {
  reason?: string;
  /** Whether the copy's disk or folder is at fault, not what was copied. */
  isFaultOfPlace?: boolean;
}

/** What is known of a file once it is open. */
export type OpenedFile = Pick<SqliteFile, 'identity' | 'engine'>;

/** Parts of the thread whose methods can be called. */
export interface SqliteParts extends Pick<
  SqliteDatabase,
  'file' | 'figures' | 'logs' | 'registry' | 'series' | 'walk'
> {
  queue: SqliteDatabase;
  thread: {
    /** Returns what is known of the file, once it is open. */
    open: () => OpenedFile;
    /** Ends the thread. */
    close: () => void;
  };
}

/** A method of a part. */
export type SqliteOperation<P extends keyof SqliteParts, O extends keyof SqliteParts[P]> = Extract<
  SqliteParts[P][O],
  (...args: never[]) => unknown
>;

/** A call to the thread. */
export interface SqliteCall {
  id: number;
  part: keyof SqliteParts;
  operation: string;
  args: unknown[];
}

/** The answers to a group of calls. */
export interface SqliteAnswers {
  answers: SqliteAnswer[];
  /** Why the next start would not find what is written now; undefined if it would. */
  loss: string | undefined;
  /** Texts that name what could not be read. */
  damages: string[];
}

/** The answer to a call: its result, or why it failed. */
export interface SqliteAnswer {
  id: number;
  result?: unknown;
  error?: string;
}
