import { statSync } from 'node:fs';

import type { SqliteConnection } from './sqlite.connection.js';

import { isBackupUnderWay } from './backup-mark.js';
import { PAGE_SIZE } from './sqlite-pages.js';

/** Pages by which the log grows before it is copied into the file: 8 MiB. */
export const CHECKPOINT_PAGES = 1_024;

/** Size of the log in bytes from which it is no longer held back: a backup that hangs must not fill the disk. */
const MAX_HELD_BACK = 1024 * 1024 * 1024;

/** The write-ahead log, which is copied into the file now and then. */
export class SqliteLog {
  /** Whether a backup is copying the file and then its log: meanwhile, the log only grows and is not copied. */
  isHeldBack = false;
  /** Whether the log is emptied after the next commit: only then does the file have its current pages and size. */
  mustBeEmptied = false;

  /** @param path where SQLite keeps the file */
  constructor(
    private readonly db: SqliteConnection,
    private readonly path: string,
  ) {}

  /** Empties a log that has grown long; it would stay long otherwise. */
  shorten(): void {
    if (this.isHeldBack || this.size() <= PAGE_SIZE * CHECKPOINT_PAGES) return;
    this.mustBeEmptied = true;
    this.empty();
  }

  /** Holds the log back while a backup is running; to be called before each transaction. */
  holdBack(): void {
    const isHeldBack = isBackupUnderWay(this.path) && this.size() < MAX_HELD_BACK;
    if (isHeldBack === this.isHeldBack) return;
    this.db.exec(`PRAGMA wal_autocheckpoint = ${isHeldBack ? 0 : CHECKPOINT_PAGES}`);
    this.isHeldBack = isHeldBack;
  }

  /** Empties the log if needed, which makes a running backup start again; to be called after each commit. */
  empty(): void {
    if (!this.mustBeEmptied) return;
    try {
      this.truncate();
    } catch {
      // The disk is full. Commits stay valid, and a later commit empties the log.
    }
  }

  /**
   * Copies the log into the file and empties it.
   * @throws {Error} when that fails
   */
  truncate(): void {
    const { busy } = this.db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    if (busy !== 0) throw new Error('the write-ahead log is in use and cannot be emptied');
    this.mustBeEmptied = false;
  }

  size(): number {
    return statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }
}
