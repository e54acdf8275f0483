import { statSync } from 'node:fs';

import type Database from 'libsql';

import { isBackupUnderWay } from './backup-mark.js';
import { PAGE_SIZE } from './sqlite-pages.js';

/** Pages that the log grows by before it is copied into the file: 8 MiB. */
export const CHECKPOINT_PAGES = 1_024;

/** Size of the log in bytes from which it is not held back: a backup that hangs must not fill the disk. */
const MAX_HELD_BACK = 1024 * 1024 * 1024;

/** The write-ahead log, which is copied into the file now and then. */
export class SqliteLog {
  /** Whether a backup is copying the file and then its log: meanwhile the log is not copied into the file, but grows. */
  isHeldBack = false;
  /** Why it could not be emptied. */
  fault: Error | undefined;
  private mustBeEmptied = false;

  /** @param path where SQLite keeps the file */
  constructor(
    private readonly db: Database.Database,
    private readonly path: string,
  ) {}

  /** Has the log emptied after the next commit: only then the file has all pages as they are, and no more of them. */
  emptySoon(): void {
    this.mustBeEmptied = true;
  }

  /** Empties the log where it has grown long, as it stays so otherwise. */
  shorten(): void {
    if (this.isHeldBack || this.size() <= PAGE_SIZE * CHECKPOINT_PAGES) return;
    this.emptySoon();
    this.empty();
  }

  /** To be called before each transaction. */
  holdBack(): void {
    const isHeldBack = isBackupUnderWay(this.path) && this.size() < MAX_HELD_BACK;
    if (isHeldBack === this.isHeldBack) return;
    this.db.exec(`PRAGMA wal_autocheckpoint = ${isHeldBack ? 0 : CHECKPOINT_PAGES}`);
    this.isHeldBack = isHeldBack;
  }

  /** To be called after each commit. A backup under way begins again where the log is emptied. */
  empty(): void {
    if (!this.mustBeEmptied) return;
    try {
      this.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      this.mustBeEmptied = false;
      this.fault = undefined;
    } catch (error) {
      // The disk is full; what was committed stays so, and the log is emptied with a later commit.
      this.fault = error as Error;
    }
  }

  size(): number {
    return statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }
}
