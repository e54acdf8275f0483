import { realpathSync } from 'node:fs';

import { checkKind, createFile, identityOf, lastWriteOf, setLastWrite } from './file-access.util.js';
import { rewriteLayout } from './sqlite-layout.js';
import { SqliteLog } from './sqlite-log.js';
import { SqlitePages } from './sqlite-pages.js';
import type { SqliteWorkerData } from './sqlite-worker.interface.js';
import { connect, engineOf, type SqliteConnection } from './sqlite.connection.js';

/** Lag from which on the system clock counts as set back, in ms. */
const MIN_LEAD = 100;

/** Why a queue accepts nothing new although its file is open. */
const NOT_IN_PLACE =
  'the file was removed or replaced while it is open. New messages are refused. Messages accepted before are delivered ' +
  'until the application ends, and the rest is then lost. Move the file and its -wal back, or start the application again';

/** The open file of a queue: its transactions, its size, and the time of its last write. */
export class SqliteFile {
  readonly db: SqliteConnection;
  /** Path of the file, with links resolved: where SQLite keeps the log. */
  readonly path: string;
  readonly pages: SqlitePages;
  /** How far the last write before this opening is ahead of the queue's time, in ms. */
  readonly setBack: number;
  /** The queue's time at the last call that scheduled by it, in ms since the epoch. */
  now: number;
  /** Whether the file has reached `maxBytes`. */
  isFull = false;
  /** Identity of the open file. */
  readonly identity: string | undefined;
  private readonly log: SqliteLog;
  /** Identity of the open write-ahead log, known after the first transaction. */
  private logIdentity: string | undefined;
  /** Numbers of pages to be scrubbed after the next commit. */
  private readonly unscrubbed = new Set<number>();
  /** Whether the pages of the registry are scrubbed after the next commit that no backup holds back. */
  private mustScrubRegistry = false;
  /** Why they could not be scrubbed. */
  private scrubFault: Error | undefined;

  constructor(private readonly data: SqliteWorkerData) {
    const { path, isReadOnly, now, identity, libsql } = data;
    checkKind(path);
    if (identity !== undefined && identityOf(path) !== identity) {
      throw new Error('the file was removed or replaced; move it back, or start the application again');
    }
    if (!isReadOnly) createFile(path);
    this.db = connect(path, libsql);
    this.path = realpathSync(path);
    this.identity = identityOf(this.path);
    this.now = now;
    this.setBack = lastWriteOf(this.path) - now;
    this.log = new SqliteLog(this.db, this.path);
    this.pages = new SqlitePages(this.db, this.path);
  }

  /** Names the version of SQLite and the driver. */
  get engine(): string {
    return engineOf(this.db, this.data.libsql);
  }

  /** Runs work as one durable unit: all of it or none. */
  transaction(work: () => void): void {
    if (this.data.isReadOnly) return work(); // within the transaction that `close` rolls back
    this.log.holdBack();
    this.measure();
    this.db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.db.exec('COMMIT');
    } catch (error) {
      this.rollBack();
      throw error;
    }
    this.log.empty();
    this.scrubPages();
    this.saveTime();
    this.logIdentity ??= identityOf(`${this.path}-wal`);
  }

  /** Returns why the next start would not find what is written now; undefined if it would. */
  findLoss(): string | undefined {
    const isInPlace = identityOf(this.path) === this.identity && identityOf(`${this.path}-wal`) === this.logIdentity;
    return isInPlace || this.data.isReadOnly ? undefined : NOT_IN_PLACE;
  }

  /** Writes to the file, so that faults show; returns whether it has reached `maxBytes`. */
  check(): boolean {
    const loss = this.findLoss();
    if (loss !== undefined) throw new Error(loss);
    rewriteLayout(this.db);
    return this.isFull;
  }

  /** Returns the number of pages in the file. */
  pageCount(): number {
    return this.pages.count();
  }

  /**
   * Empties the log and overwrites what pages have besides their rows, after the next commit; a running backup starts
   * again.
   */
  scrub(first: number, last: number): void {
    for (let number = first; number <= last; number++) this.unscrubbed.add(number);
  }

  /** As `scrub`, for the pages of the registry, once no backup is running. */
  scrubRegistry(): void {
    this.mustScrubRegistry = true;
  }

  /** @throws {Error} while the file or its log may hold purged data */
  confirmPurge(): void {
    if (this.scrubFault) throw this.scrubFault;
  }

  /**
   * Releases a portion of free pages; returns whether there are more. Releases no page while a backup copies the file:
   * the log would hold them all.
   */
  shrink(): boolean {
    if (this.log.isHeldBack) return false;
    const { pages, more } = this.pages.shrink();
    if (pages > 0 && !more) this.log.mustBeEmptied = true;
    return more;
  }

  close(): void {
    this.rollBack();
    if (!this.data.isReadOnly && this.isAhead) {
      this.log.mustBeEmptied = true; // otherwise closing it would write to the file
      this.log.empty();
      this.saveTime();
    }
    this.db.close();
  }

  /** Ends the transaction, if SQLite has not. */
  private rollBack(): void {
    try {
      this.db.exec('ROLLBACK');
    } catch {
      // There is none.
    }
  }

  private scrubPages(): void {
    if (this.unscrubbed.size === 0 && (!this.mustScrubRegistry || this.log.isHeldBack)) return;
    const loss = this.findLoss();
    try {
      if (loss !== undefined) throw new Error(loss);
      this.log.truncate();
      if (this.mustScrubRegistry) for (const number of this.pages.ofTable('registry')) this.unscrubbed.add(number);
      this.pages.scrub(this.unscrubbed);
      if (this.pages.isOverwritten) {
        rewriteLayout(this.db); // so that SQLite syncs the file: Node's permission model has no fsync
        this.log.truncate();
        this.pages.isOverwritten = false;
      }
      this.unscrubbed.clear();
      this.mustScrubRegistry = false;
      this.scrubFault = undefined;
    } catch (error) {
      // Commits stay valid, and a later commit tries again.
      this.scrubFault = error as Error;
    }
  }

  /** Whether the system clock was set back. */
  private get isAhead(): boolean {
    return this.now - Date.now() > MIN_LEAD;
  }

  /** Records the time that deliveries were scheduled by, for the next opening of the file. */
  private saveTime(): void {
    if (this.isAhead) setLastWrite(this.path, this.now);
  }

  /** Checks whether the file is full, by its pages in use and its log. */
  private measure(): void {
    const { maxBytes } = this.data;
    if (maxBytes === undefined) return;
    const used = this.pages.usedBytes();
    if (used + this.log.size() >= maxBytes) this.log.shorten();
    this.isFull = used + this.log.size() >= maxBytes;
  }
}
