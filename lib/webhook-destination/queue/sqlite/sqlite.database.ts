import { realpathSync } from 'node:fs';

import Database from 'libsql';

import type { DeliveryCount, OldestDelivery } from '../delivery-queue.interface.js';
import type { ClaimLimit } from '../store/delivery-store.interface.js';
import type { CheckedSearch } from '../delivery-search.js';
import type { CheckedQuery } from '../query.util.js';
import type { RegistryRecord } from '../registry-store.interface.js';
import type { Retention } from '../retention.options.js';
import type { SeriesRecord } from '../series-store.interface.js';
import { AcceptedTable } from './accepted.table.js';
import { BatchTable } from './batch.table.js';
import { DeliveryTable } from './delivery.table.js';
import { RegistryTable } from './registry.table.js';
import { SeriesTable } from './series.table.js';
import { prepare, rewriteLayout } from './sqlite-layout.js';
import { SqliteLog } from './sqlite-log.js';
import { SqlitePages } from './sqlite-pages.js';
import { createFile, inodeOf, lastWriteOf, setLastWrite } from './sqlite-file.util.js';
import type { SqliteWorkerData } from './sqlite-worker.interface.js';
import {
  type ClaimedRows,
  type DeliveredRows,
  type InsertedBatch,
  isUsedUp,
  type NewBatchRow,
  type SettlementRow,
  type Slice,
  toCondition,
  type WholeRows,
} from './delivery-rows.js';
import { SqliteFigures } from './sqlite-figures.js';
import { SqliteSweep } from './sqlite-sweep.js';
import { SqliteWalk } from './sqlite-walk.js';

/** Lag from which on the system clock counts as set back, in ms. */
const MIN_LEAD = 100;

/** The SQL of the queue. It blocks, so it runs only in the worker thread. */
export class SqliteDatabase {
  private readonly db: Database.Database;
  private readonly accepted: AcceptedTable;
  private readonly batches: BatchTable;
  private readonly deliveries: DeliveryTable;
  private readonly registry: RegistryTable;
  private readonly series: SeriesTable;
  private readonly pages: SqlitePages;
  private readonly log: SqliteLog;
  /** Whether the file has reached `maxBytes`. */
  private isFull = false;
  /** Path of the file, with links resolved. */
  private readonly path: string;
  private readonly inode: number | undefined;
  /** The queue's time at the last call that scheduled by it, in ms since the epoch. */
  private now: number;
  private readonly walk: SqliteWalk;
  private readonly sweeper: SqliteSweep;
  private readonly figures: SqliteFigures;

  constructor(private readonly data: SqliteWorkerData) {
    const { path, messageIds, isReadOnly = false, leased, now } = data;
    if (!isReadOnly) createFile(path);
    this.db = new Database(path);
    const realPath = realpathSync(path); // where SQLite keeps the log
    this.path = realPath;
    this.inode = inodeOf(realPath);
    this.now = now;
    this.log = new SqliteLog(this.db, realPath);
    const setBack = lastWriteOf(realPath) - now;
    try {
      prepare(this.db, realPath, isReadOnly);
      this.accepted = new AcceptedTable(this.db, messageIds);
      this.batches = new BatchTable(this.db);
      this.deliveries = new DeliveryTable(this.db);
      this.registry = new RegistryTable(this.db);
      this.series = new SeriesTable(this.db);
      this.pages = new SqlitePages(this.db);
      this.walk = new SqliteWalk(this.db, this.batches);
      this.sweeper = new SqliteSweep(this.db, this.batches, this.accepted);
      this.figures = new SqliteFigures(this.db);
      this.transaction(() => {
        this.batches.recover(leased);
        this.deliveries.recover(leased);
        if (setBack > 0) {
          this.batches.setBack(now);
          this.deliveries.setBack(setBack, now);
        }
        if (!isReadOnly) this.accepted.recover(now);
      });
      if (setBack > 0 && !isReadOnly) setLastWrite(realPath, now); // so that times are set back only once
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  /** Runs work as one durable unit: all of it or none. */
  transaction(work: () => void): void {
    if (this.data.isReadOnly) return work(); // within the transaction that `close` rolls back
    this.log.holdBack();
    this.measure();
    this.db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.accepted.write();
      this.db.exec('COMMIT');
      this.accepted.commit();
      this.log.empty();
      this.saveTime();
    } catch (error) {
      this.batches.forget();
      this.accepted.rollback();
      if (this.db.inTransaction) this.db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Stores batches; returns undefined, storing nothing, if the file has reached `maxBytes`. */
  insert(batches: NewBatchRow[], now: number): InsertedBatch[] | undefined {
    if (this.isFull) return undefined;
    this.now = now;
    return batches.map((batch) => this.batches.insert(batch, this.accepted, now));
  }

  claim(destination: string, limit: ClaimLimit, now: number): ClaimedRows {
    this.now = now;
    const room = { ...limit };
    // Deliveries whose retry window is running come first.
    const found = [...this.deliveries.claim(destination, room, now), ...this.batches.reclaim(destination, room, now)];
    const rows = this.batches.reader.withBodies(found);
    const batches = this.batches.claim(destination, room, now);
    const more = isUsedUp(room);
    return { rows, batches, more, nextDueAt: more ? undefined : this.deliveries.nextDueAt(destination) };
  }

  /** Settles deliveries; returns the ids of those that were not leased, and so not settled. */
  settle({ ids, attempts }: DeliveredRows, others: SettlementRow[], now: number): number[] {
    this.now = now;
    const unsettled: number[] = [];
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index]!;
      const attempt = attempts[index]!;
      if (this.batches.take(id)) {
        this.batches.recordOutcome(id, attempt);
        continue;
      }
      const { startedAt: firstAttemptAt } = JSON.parse(attempt) as { startedAt: number };
      if (!this.deliveries.settle({ id, state: 'delivered', attempt, firstAttemptAt }, now)) unsettled.push(id);
    }
    for (const settlement of others) if (!this.settleOne(settlement, now)) unsettled.push(settlement.id);
    this.batches.writeOutcomes(now);
    this.sweeper.countSettled(ids.length + others.length);
    return unsettled;
  }

  search(search: CheckedSearch, before: number, limit: number): Slice<WholeRows> {
    return this.walk.search(search, before, limit);
  }

  /** Writes to the file, so that faults show; returns whether it has reached `maxBytes`. */
  check(): boolean {
    if (inodeOf(this.path) !== this.inode)
      throw new Error('the file was removed or replaced; start the application again');
    rewriteLayout(this.db);
    return this.isFull;
  }

  oldest(): OldestDelivery[] {
    return this.figures.oldest();
  }

  purge(query: CheckedQuery, before: number): Slice<number> {
    return this.walk.purge(query, before);
  }

  /** Overwrites what a portion of pages has besides its rows; returns the first page of the next portion. */
  scrub(page: number): number | undefined {
    const next = this.pages.scrub(page);
    if (next === undefined) this.log.emptySoon();
    return next;
  }

  /** @throws {Error} while the log may hold purged data */
  confirmPurge(): void {
    if (this.log.fault) throw this.log.fault;
  }

  sweep(retention: Retention, now: number): number {
    this.pages.estimateDemand();
    this.registry.sweep(now);
    return this.sweeper.run(retention, now);
  }

  /**
   * Releases a portion of free pages; returns whether there are more. Releases no page while a backup copies the file:
   * the log would hold them all.
   */
  shrink(): boolean {
    if (this.log.isHeldBack) return false;
    const { pages, more } = this.pages.shrink();
    if (pages > 0 && !more) this.log.emptySoon();
    return more;
  }

  counts(): DeliveryCount[] {
    return this.figures.counts();
  }

  replay(query: CheckedQuery, now: number): string[] {
    this.now = now;
    const { sql, parameters } = toCondition(query);
    const rows = this.db
      .prepare(
        `UPDATE delivery SET state = 'queued', due_at = ?1, first_attempt_at = ?1, failed_urls = '[]', reason = NULL,
           ended_at = NULL
         WHERE state = 'dead' AND ${sql} RETURNING destination`,
      )
      .all(now, ...parameters);
    return (rows as { destination: string }[]).map(({ destination }) => destination);
  }

  /** Makes a portion of the waiting deliveries of a destination due; returns their number. */
  expedite(destination: string, now: number, limit: number): number {
    this.now = now;
    return this.deliveries.expedite(destination, now, limit);
  }

  readRegistry(after: number): RegistryRecord[] {
    return this.registry.read(after);
  }

  writeRegistry(record: Omit<RegistryRecord, 'revision'>, expected: number): number | undefined {
    return this.registry.write(record, expected);
  }

  readSeries(series: string, from: number, to: number): SeriesRecord[] {
    return this.series.read(series, from, to);
  }

  writeSeries(records: SeriesRecord[], oldest: number): void {
    this.series.write(records, oldest);
  }

  close(): void {
    if (this.db.inTransaction) this.db.exec('ROLLBACK');
    // Except on Bun, the file is released when the thread ends.
    if (process.versions.bun !== undefined && !this.data.isReadOnly) this.release();
    if (!this.data.isReadOnly && this.isAhead) {
      this.log.emptySoon(); // otherwise the end of the thread would write to the file
      this.log.empty();
      this.saveTime();
    }
    this.db.close();
  }

  /** Releases the exclusive lock, which lasts as long as the write-ahead log is in use. */
  private release(): void {
    try {
      this.db.exec('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema');
    } catch {
      // The disk is full or gone; the lock ends with the process.
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

  private settleOne(settlement: SettlementRow, now: number): boolean {
    const { id, state, attempt } = settlement;
    if (this.batches.take(id)) {
      if (state === 'delivered') {
        this.batches.recordOutcome(id, attempt);
        return true;
      }
      this.deliveries.insert(this.batches.readDelivery(id)!);
      this.batches.recordOutcome(id);
    }
    return this.deliveries.settle(settlement, now);
  }
}
