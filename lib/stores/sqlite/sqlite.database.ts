import type { SqliteConnection } from './sqlite.connection.js';

import type { SweptRecords } from '../../webhook-destination/queue/delivery.interface.js';
import type {
  ClaimLimit,
  MessageKey,
  ReplayQuery,
} from '../../webhook-destination/queue/store/delivery-store.interface.js';
import type { Retention } from '../../webhook-destination/queue/retention.options.js';
import { AcceptedTable } from './accepted.table.js';
import { DamageError } from './batch.codec.js';
import { BatchTable } from './batch.table.js';
import { DamagedRows } from './damaged-rows.js';
import { DeliveryTable } from './delivery.table.js';
import { LogTable } from './log.table.js';
import { RegistryTable } from './registry.table.js';
import { SqliteFile } from './sqlite-file.js';
import { setLastWrite } from './file-access.util.js';
import { prepare } from './sqlite-layout.js';
import type { SqliteWorkerData } from './sqlite-worker.interface.js';
import {
  type ClaimedRows,
  type DeliveredRows,
  type DeliveryPlace,
  type InsertedBatch,
  isUsedUp,
  matchesRow,
  type NewBatchRow,
  type SettlementRow,
  type Slice,
} from './delivery-rows.js';
import { SqliteFigures } from './sqlite-figures.js';
import { SqliteSweep } from './sqlite-sweep.js';
import { SqliteWalk } from './sqlite-walk.js';
import type { SeriesRecord } from '../../webhook-destination/queue/series-store.interface.js';

/** The SQL of the queue. It blocks, so it runs only in the worker thread. */
export class SqliteDatabase {
  readonly file: SqliteFile;
  readonly registry: RegistryTable;
  readonly series: SeriesTable;
  readonly logs: LogTable;
  readonly walk: SqliteWalk;
  readonly figures: SqliteFigures;
  /** Texts that name what was set aside, and what else could not be read, since they were last taken. */
  readonly damages: string[] = [];
  private readonly damaged: DamagedRows;
  private readonly accepted: AcceptedTable;
  private readonly batches: BatchTable;
  private readonly deliveries: DeliveryTable;
  private readonly sweeper: SqliteSweep;

  constructor(data: SqliteWorkerData) {
    const { messageIds, isReadOnly = false, leased, now } = data;
    this.file = new SqliteFile(data);
    const { db, path, setBack } = this.file;
    try {
      prepare(db, path, isReadOnly);
      this.accepted = new AcceptedTable(db, messageIds);
      this.batches = new BatchTable(db);
      this.deliveries = new DeliveryTable(db);
      this.damaged = new DamagedRows(db, this.batches.reader);
      this.registry = new RegistryTable(db);
      this.series = new SeriesTable(db);
      this.logs = new LogTable(db, this.file);
      this.walk = new SqliteWalk(db, this.batches);
      this.sweeper = new SqliteSweep(db, this.batches);
      this.figures = new SqliteFigures(db);
      this.transaction(() => {
        this.batches.recover(leased);
        this.deliveries.recover(leased);
        if (setBack > 0) this.deliveries.setBack(setBack, now);
        if (isReadOnly) return;
        const lost = this.accepted.recover(now);
        if (lost > 0)
          this.damages.push(`${lost} lists of message ids cannot be read; a repeated message may be delivered again`);
      });
      if (setBack > 0 && !isReadOnly) setLastWrite(path, now); // so that times are set back only once
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /**
   * Runs work as one durable unit: all of it or none. If it meets something that cannot be read, that is set aside, and
   * the work runs again.
   */
  transaction(work: () => void): void {
    for (let last: DamageError | undefined; ;) {
      try {
        return this.run(work);
      } catch (error) {
        if (!(error instanceof DamageError) || (error.table === last?.table && error.id === last.id)) throw error;
        last = error;
        this.run(() => this.damages.push(this.damaged.setAside(error, this.file.now)));
      }
    }
  }

  private run(work: () => void): void {
    try {
      this.file.transaction(() => {
        work();
        this.accepted.write();
      });
      this.accepted.commit();
    } catch (error) {
      this.batches.forget();
      this.accepted.rollback();
      throw error;
    }
  }

  /** Makes a durable test write. */
  check(): { isFull: boolean; unreadable: number } {
    return { isFull: this.file.check(), unreadable: this.damaged.count() };
  }

  /** Stores batches; returns undefined, storing nothing, if the file has reached `maxBytes`, unless `beyondLimit`. */
  insert(batches: NewBatchRow[], now: number, beyondLimit: boolean): InsertedBatch[] | undefined {
    if (this.file.isFull && !beyondLimit) return undefined;
    this.file.now = now;
    return batches.map((batch) => this.batches.insert(batch, this.accepted, now));
  }

  /** Returns those of the destinations for which a message is remembered. */
  remembers(message: MessageKey, destinations: readonly string[], now: number): string[] {
    return this.accepted.remembers(message, destinations, now);
  }

  claim(destination: string, limit: ClaimLimit, now: number): ClaimedRows {
    this.file.now = now;
    const room = { ...limit };
    // Deliveries whose retry window is running come first.
    const found = [...this.deliveries.claim(destination, room, now), ...this.batches.reclaim(destination, room)];
    const rows = this.batches.reader.withBodies(found);
    const batches = this.batches.claim(destination, room);
    const more = isUsedUp(room);
    return { rows, batches, more, nextDueAt: more ? undefined : this.deliveries.nextDueAt(destination) };
  }

  /** Settles deliveries; returns the ids of those that were not leased, and so not settled. */
  settle({ ids, attempts }: DeliveredRows, others: SettlementRow[], now: number): number[] {
    this.file.now = now;
    const unsettled: number[] = [];
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index]!;
      const attempt = attempts[index]!;
      if (this.batches.take(id)) {
        this.batches.recordOutcome(id, attempt);
        continue;
      }
      const { startedAt: firstAttemptAt } = JSON.parse(attempt) as { startedAt: number };
      if (!this.deliveries.settle({ id, state: 'delivered', attempts: `[${attempt}]`, firstAttemptAt }, now))
        unsettled.push(id);
    }
    for (const settlement of others) if (!this.settleOne(settlement, now)) unsettled.push(settlement.id);
    this.batches.writeOutcomes(now);
    return unsettled;
  }

  /** Makes a portion of the deliveries due; returns the destination of each. */
  replay(query: ReplayQuery, now: number, after: DeliveryPlace): Slice<string[], DeliveryPlace> {
    this.file.now = now;
    const slice = this.deliveries.replay(query, now, after);
    if (query.state === 'dead' || slice.result.length > 0) return slice;
    const row = this.batches.moveOut(Number(query.id), (found) => matchesRow(query, found));
    if (row?.state === 'delivered')
      this.deliveries.insert({ ...row, state: 'queued', dueAt: now, firstAttemptAt: now });
    return { result: row ? [row.destination] : [], next: undefined };
  }

  /** Makes a portion of a destination's open deliveries due; returns the number of those not due before. */
  expedite(destination: string, now: number): number {
    this.file.now = now;
    return this.deliveries.expedite(destination, now);
  }

  /** Begins or continues a sweep; returns what it has removed once it has ended. */
  sweep(retention: Retention, now: number, isFirst: boolean): SweptRecords | undefined {
    this.file.pages.estimateDemand();
    if (isFirst) {
      this.registry.sweep(now);
      this.accepted.trim(now);
    }
    return this.sweeper.run(retention, now, isFirst);
  }

  private settleOne(settlement: SettlementRow, now: number): boolean {
    const { id } = settlement;
    if (this.batches.take(id)) {
      this.deliveries.insert(this.batches.readDelivery(id)!);
      this.batches.recordOutcome(id);
    }
    return this.deliveries.settle(settlement, now);
  }
}

/** Per-minute figures. */
class SeriesTable {
  private readonly statements = {
    put: this.db.prepare('REPLACE INTO series (series, minute, writer, text) VALUES (?, ?, ?, ?)'),
    prune: this.db.prepare('DELETE FROM series WHERE minute < ?'),
    read: this.db.prepare(
      'SELECT series, minute, writer, text FROM series WHERE series = ? AND minute BETWEEN ? AND ?',
    ),
  };

  constructor(private readonly db: SqliteConnection) {}

  write(records: SeriesRecord[], oldest: number): void {
    for (const { series, minute, writer, text } of records) this.statements.put.run(series, minute, writer, text);
    this.statements.prune.run(oldest);
  }

  read(series: string, from: number, to: number): SeriesRecord[] {
    return this.statements.read.all(series, from, to) as SeriesRecord[];
  }
}
