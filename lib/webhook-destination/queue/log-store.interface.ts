import { randomBytes } from 'node:crypto';

/** A log that is kept beside the deliveries. */
export interface KeptLog {
  /** Unique name. */
  readonly name: string;
  /** How long a record is kept, in ms since the time in its id. */
  readonly age: number;
  /** Maximum number of records: the oldest ones are removed first. */
  readonly count: number;
}

/** A record of a log. */
export interface LogRecord {
  /** Unique in its log, and begins with an id of {@link createLogId}: ids sort by time. ASCII characters only. */
  id: string;
  /** JSON in a format of the log. */
  text: string;
}

/** A record with what only a look-up of the record reads. */
export interface WholeLogRecord extends LogRecord {
  /** Without NUL characters. Default: none. */
  attachment?: string | undefined;
}

/** Stores logs, such as the activity and refused messages; usable while the queue is open. */
export interface LogStore {
  /**
   * Writes records, replacing those with the same id, and removes what exceeds the `count` of the log. Resolves with
   * whether they are written: a store at its size limit takes no records with attachments.
   */
  write(log: KeptLog, records: WholeLogRecord[]): Promise<boolean>;
  /** Replaces the texts of those of these records that still exist. */
  update(log: KeptLog, records: LogRecord[]): Promise<void>;
  /**
   * Returns the records of a log, newest first, as far as they are not past its `age`.
   *
   * @param before id below which records are read; default: all
   */
  read(log: KeptLog, limit: number, before?: string): Promise<LogRecord[]>;
  /** Returns those of these records that exist and are not past the `age` of the log, newest first. */
  find(log: KeptLog, ids: string[]): Promise<WholeLogRecord[]>;
  /** Removes records; resolves with the number of those that existed. */
  remove(log: KeptLog, ids: string[]): Promise<number>;
  /** Returns the names of the logs that begin with a text and have records, or have had until lately. */
  names(start: string): Promise<string[]>;
  /**
   * Removes records of any log that are past the `age` with which they were written (in Redis, that of the log's last
   * write); resolves with their number. It is less than `most` if no more are left.
   */
  removeOld(now: number, most: number): Promise<number>;
}

/** Records that a sweep removes with one call. */
export const LOG_PORTION = 500;

/** Number of digits of the time in an id. */
const TIME_DIGITS = 15;

let lastNumber = 0;

/** Returns a new id for a record of this time, in ms since the epoch; those of this process sort in their order. */
export function createLogId(at: number): string {
  lastNumber = (lastNumber + 1) % 1_000_000;
  return `${toIdStart(at)}-${String(lastNumber).padStart(6, '0')}-${randomBytes(8).toString('hex')}`;
}

/** Whether a text is an id that {@link createLogId} may have returned. */
export function isLogId(text: string): boolean {
  return /^\d{15}-\d{6}-[\da-f]{16}$/.test(text);
}

/** Returns what ids of this time begin with: all ids of later times are greater, and all of earlier ones less. */
export function toIdStart(at: number): string {
  return String(Math.max(Math.floor(at), 0)).padStart(TIME_DIGITS, '0');
}

/** Returns the time in an id, in ms since the epoch. */
export function timeOfLogId(id: string): number {
  return Number(id.slice(0, TIME_DIGITS));
}
