import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import Database from 'libsql';

import type { DeliveryCount } from '../delivery-queue.interface.js' with { 'resolution-mode': 'import' };
import type { ClaimLimit } from '../embedded/delivery-store.interface.js' with { 'resolution-mode': 'import' };
import type { CheckedQuery } from '../query.check.js' with { 'resolution-mode': 'import' };
import { AcceptedTable } from './accepted.table.cjs';
import { BatchTable } from './batch.table.cjs';
import { isBackupUnderWay } from './backup.mark.cjs';
import { DeliveryTable } from './delivery.table.cjs';
import { checkLayout, layoutOf, migrate } from './sqlite.layout.cjs';
import type { SqliteWorkerData } from './sqlite.protocol.js' with { 'resolution-mode': 'import' };
import type {
  ClaimedBatch,
  DeliveredRows,
  DeliveryRow,
  InsertedBatch,
  NewBatchRow,
  SettlementRow,
  Slice,
} from './sqlite.rows.cjs';
import { isUsedUp, toCondition } from './sqlite.rows.cjs';
import { SqliteSweep } from './sqlite.sweep.cjs';
import { SqliteWalk } from './sqlite.walk.cjs';

/** Size of a page in bytes. A batch is some of them, and each costs system calls; a small change writes a whole one. */
const PAGE_SIZE = 8_192;

/** Pages that the write-ahead log grows by before it is copied into the file: 8 MiB. */
const CHECKPOINT_PAGES = 1_024;

/** Bytes that the log keeps on disk once it is copied, where it has grown beyond. */
const LOG_SIZE = 64 * 1024 * 1024;

/** Size of the log in bytes from which it is not held back: a backup that hangs must not fill the disk. */
const MAX_HELD_BACK = 1024 * 1024 * 1024;

/** Memory for pages of the file. */
const CACHE_KIB = 16_384;

/** What a claim found. */
export interface SqliteClaim {
  rows: DeliveryRow[];
  batches: ClaimedBatch[];
  more: boolean;
  nextDueAt: number | undefined;
}

/** The SQL of the queue. It blocks, so it runs in the worker thread alone. */
export class SqliteDatabase {
  private readonly db: Database.Database;
  private readonly accepted: AcceptedTable;
  private readonly batches: BatchTable;
  private readonly deliveries: DeliveryTable;
  /** Whether the transaction under way has purged data. */
  private hasPurged = false;
  /** Whether the log may still hold purged data, as it may after a crash. */
  private mayLogHoldPurged = true;
  /** Whether the log is held back from the file. */
  private isHeldBack = false;
  /** Whether it holds `maxBytes`. */
  private isFull = false;
  private readonly path: string;
  private readonly isReadOnly: boolean;
  private readonly maxBytes: number;
  readonly walk: SqliteWalk;
  readonly sweep: SqliteSweep;

  constructor({ path, messageIds, maxBytes = Infinity, isReadOnly, leased, now }: SqliteWorkerData) {
    this.isReadOnly = isReadOnly;
    this.maxBytes = maxBytes;
    if (!isReadOnly) makeFolder(dirname(path));
    this.db = new Database(path);
    this.path = realpathSync(path); // where SQLite keeps the log
    const setBack = this.lastWrite() - now;
    try {
      this.prepareFile();
      this.accepted = new AcceptedTable(this.db, messageIds);
      this.batches = new BatchTable(this.db, this.accepted);
      this.deliveries = new DeliveryTable(this.db);
      this.walk = new SqliteWalk(this.db, this.batches);
      this.sweep = new SqliteSweep(this.db, this.batches, this.accepted);
      this.transaction(() => {
        this.batches.recover(leased);
        this.deliveries.recover(leased);
        if (setBack > 0) {
          this.batches.setBack(now);
          this.deliveries.setBack(setBack, now);
        }
        if (!isReadOnly) this.accepted.recover(now);
      });
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  /** Runs work as one durable unit: all of it or none. */
  transaction(work: () => void): void {
    if (this.isReadOnly) return work(); // within the transaction that ends with the file's closing
    this.holdBackLog();
    this.measure();
    this.db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.accepted.write();
      this.db.exec('COMMIT');
      this.accepted.commit();
      this.mayLogHoldPurged ||= this.hasPurged;
      this.hasPurged = false;
      this.overwritePurged();
    } catch (error) {
      this.batches.forget();
      this.accepted.rollback();
      this.hasPurged = false;
      if (this.db.inTransaction) this.db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Undefined, with nothing inserted, where it holds `maxBytes`. */
  insert(batches: NewBatchRow[], now: number): InsertedBatch[] | undefined {
    if (this.isFull) return undefined;
    return batches.map((batch) => this.batches.insert(batch, now));
  }

  claim(destination: string, limit: ClaimLimit, now: number): SqliteClaim {
    const room = { ...limit };
    // What has a window running comes first.
    const rows = this.deliveries.claim(destination, room, now);
    const batches = this.batches.claim(destination, room, now);
    const more = isUsedUp(room);
    return { rows, batches, more, nextDueAt: more ? undefined : this.deliveries.nextDueAt(destination) };
  }

  settle({ ids, attempts }: DeliveredRows, others: SettlementRow[], now: number): number[] {
    const unsettled: number[] = [];
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index]!;
      const attempt = attempts[index]!;
      if (this.batches.take(id)) {
        this.batches.note(id, attempt);
        continue;
      }
      const { startedAt: firstAttemptAt } = JSON.parse(attempt) as { startedAt: number };
      if (!this.deliveries.settle({ id, state: 'delivered', attempt, firstAttemptAt }, now)) unsettled.push(id);
    }
    for (const settlement of others) if (!this.settleOne(settlement, now)) unsettled.push(settlement.id);
    this.batches.writeNotes(now);
    return unsettled;
  }

  /** Overwrites what it removes, so that the file holds no purged data: what the sweep removes stays until it is reused. */
  purge(query: CheckedQuery, before: number): Slice<number> {
    this.db.exec('PRAGMA secure_delete = ON');
    try {
      const changes = this.changes();
      const slice = this.walk.purge(query, before);
      this.hasPurged ||= this.changes() > changes;
      return slice;
    } finally {
      this.db.exec('PRAGMA secure_delete = OFF');
    }
  }

  counts(): DeliveryCount[] {
    return this.db
      .prepare(
        `SELECT destination, state, sum(count) AS count FROM (
           SELECT destination, state, count(*) AS count FROM delivery GROUP BY state, destination
           UNION ALL
           SELECT destination, 'queued', sum(size) FROM batch WHERE state = 'q' GROUP BY destination
           UNION ALL
           SELECT destination, iif(state = 'r', 'waiting', 'delivering'), sum(size) - total(delivered + gone)
             FROM batch LEFT JOIN outcome ON batch = id WHERE state <> 'q' AND open IS NOT 0 GROUP BY destination, state
           UNION ALL
           SELECT destination, 'delivered', sum(delivered) FROM outcome JOIN batch ON id = batch GROUP BY destination
         ) GROUP BY destination, state HAVING sum(count) > 0`,
      )
      .all() as DeliveryCount[];
  }

  replay(query: CheckedQuery, now: number): string[] {
    const { sql, parameters } = toCondition(query);
    const rows = this.db
      .prepare(
        `UPDATE delivery SET state = 'queued', due_at = ?, first_attempt_at = NULL, failed_urls = '[]', reason = NULL,
           ended_at = NULL
         WHERE state = 'dead' AND ${sql} RETURNING destination`,
      )
      .all(now, ...parameters);
    return (rows as { destination: string }[]).map(({ destination }) => destination);
  }

  close(): void {
    if (this.db.inTransaction) this.db.exec('ROLLBACK');
    // Elsewhere the file is let go of with the thread.
    if (process.versions.bun !== undefined && !this.isReadOnly) this.release();
    this.db.close();
  }

  /** Gives up the exclusive lock, which ends with the write-ahead log only. */
  private release(): void {
    try {
      this.db.exec('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema');
    } catch {
      // The disk is full or gone; the lock ends with the process.
    }
  }

  /** Rows that were changed since the file was opened: a batch may hold a body that no delivery is counted for. */
  private changes(): number {
    return (this.db.prepare('SELECT total_changes() AS count').get() as { count: number }).count;
  }

  /** The log still has the pages as they were. It is emptied once no backup is copying it: that would begin again. */
  private overwritePurged(): void {
    if (this.mayLogHoldPurged) this.emptyLog();
  }

  private emptyLog(): void {
    if (this.isHeldBack) return;
    try {
      this.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      this.mayLogHoldPurged = false;
    } catch {
      // The disk is full; what was committed stays so, and the log is emptied with a later commit.
    }
  }

  /** Learns whether the file is full: its pages in use, and its log. A log that grew long stays so until it is emptied. */
  private measure(): void {
    if (this.maxBytes === Infinity) return;
    const count = (name: string) => Object.values((this.db.pragma(name) as [Record<string, number>])[0])[0]!;
    const used = (count('page_count') - count('freelist_count')) * count('page_size');
    if (used + this.logSize() >= this.maxBytes && this.logSize() > PAGE_SIZE * CHECKPOINT_PAGES) this.emptyLog();
    this.isFull = used + this.logSize() >= this.maxBytes;
  }

  private settleOne(settlement: SettlementRow, now: number): boolean {
    const { id, state, attempt } = settlement;
    if (!this.batches.take(id)) return this.deliveries.settle(settlement, now);
    if (state === 'delivered') {
      this.batches.note(id, attempt);
    } else {
      this.deliveries.insert(this.batches.readDelivery(id)!, settlement, now);
      this.batches.note(id);
    }
    return true;
  }

  /** A backup copies the file and then its log; meanwhile the log is not copied into the file, but grows. */
  private holdBackLog(): void {
    const isHeldBack = isBackupUnderWay(this.path) && this.logSize() < MAX_HELD_BACK;
    if (isHeldBack === this.isHeldBack) return;
    this.db.exec(`PRAGMA wal_autocheckpoint = ${isHeldBack ? 0 : CHECKPOINT_PAGES}`);
    this.isHeldBack = isHeldBack;
  }

  /** When the file was written last, by the clock that the system had then. */
  private lastWrite(): number {
    const files = [this.path, `${this.path}-wal`].map((path) => statSync(path, { throwIfNoEntry: false }));
    return Math.floor(Math.max(...files.map((file) => file?.mtimeMs ?? 0)));
  }

  private logSize(): number {
    return statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  private prepareFile(): void {
    // Has no effect on a file that is there.
    this.db.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
    // Exclusive locking keeps other processes out until this one ends, however it ends.
    this.db.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -${CACHE_KIB}`);
    this.db.exec('BEGIN IMMEDIATE');
    const layout = layoutOf(this.db);
    checkLayout(layout);
    // What is only read is brought up to date all the same, in a transaction that is never committed.
    if (this.isReadOnly) return migrate(this.db, layout);
    // Only now is it known to be a file that may be changed.
    this.db.exec('ROLLBACK');
    this.db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    // Pages that change often are copied into the file once for many commits.
    this.db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_SIZE}`);
    this.db.exec('BEGIN IMMEDIATE');
    migrate(this.db, layout);
    this.db.exec('COMMIT');
  }
}

/** Makes a folder and those above it. Node's `recursive` never returns where the system answers ENOENT all the same. */
function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  if (folder !== dirname(folder)) makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (!isFolder(folder)) throw error; // another process may have made it
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
