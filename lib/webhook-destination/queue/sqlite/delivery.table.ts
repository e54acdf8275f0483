import type Database from 'libsql';

import type { ClaimLimit } from '../embedded/delivery-store.interface.js';
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  isUsedUp,
  type SettlementRow,
  toDeliveryRows,
  toIdText,
} from './sqlite.rows.js';

/** Rows that are read at once. */
const SLICE = 100;

/** What became of deliveries that wait for another attempt, died, or were given back; their bodies stay in the batch. */
export class DeliveryTable {
  private readonly statements;

  constructor(private readonly db: Database.Database) {
    this.statements = {
      insert: db.prepare(
        `INSERT INTO delivery (id, destination, source, message_id, user_id, state, bytes, accepted_at, due_at,
           first_attempt_at, attempts, failed_urls, reason, ended_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      due: db.prepare(
        `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE destination = ? AND state IN ('queued', 'waiting') AND due_at <= ?
           AND coalesce(first_attempt_at, accepted_at) <= ?
         ORDER BY due_at, id LIMIT ?`,
      ),
      lease: db.prepare(
        `UPDATE delivery SET state = 'delivering', first_attempt_at = coalesce(first_attempt_at, ?) WHERE id = ?`,
      ),
      nextDue: db.prepare(
        `SELECT min(due_at) AS due_at FROM delivery WHERE destination = ? AND state IN ('queued', 'waiting')`,
      ),
      settle: db.prepare(
        `UPDATE delivery SET state = ?1, first_attempt_at = ?3, reason = ?6, ended_at = ?7,
           attempts = iif(?2 IS NULL, attempts, json_insert(attempts, '$[#]', json(?2))),
           due_at = coalesce(?4, due_at), failed_urls = coalesce(?5, failed_urls)
         WHERE id = ?8 AND state = 'delivering'`,
      ),
      release: db.prepare(
        `UPDATE delivery SET state = iif(attempts = '[]', 'queued', 'waiting'), first_attempt_at = ?
         WHERE id = ? AND state = 'delivering'`,
      ),
    };
  }

  /** Leases are void that ended with their process or thread; those named go on. */
  recover(leased: number[]): void {
    this.db
      .prepare(
        `UPDATE delivery SET state = 'waiting'
         WHERE state = 'delivering' AND id NOT IN (SELECT value FROM json_each(?))`,
      )
      .run(JSON.stringify(leased));
  }

  /**
   * The clock was set back by so much, at least, since the file was written: what waits then waits no longer than it
   * still had to, and no window began after now.
   */
  setBack(time: number, now: number): void {
    this.db
      .prepare(
        `UPDATE delivery SET due_at = iif(due_at > ?2, max(due_at - ?1, ?2), due_at),
           first_attempt_at = min(first_attempt_at, ?2)
         WHERE state IN ('queued', 'waiting') AND (due_at > ?2 OR first_attempt_at > ?2)`,
      )
      .run(time, now);
  }

  /** A delivery whose outcome its batch cannot hold, with its first attempt where it had one. */
  insert(row: DeliveryRow, { state, attempt, firstAttemptAt, dueAt, failedUrls, reason }: SettlementRow, now: number) {
    this.statements.insert.run(
      row.id,
      row.destination,
      row.source,
      toIdText(row.messageId),
      toIdText(row.userId),
      state === 'released' ? 'queued' : state,
      row.bytes,
      row.acceptedAt,
      dueAt ?? row.dueAt,
      firstAttemptAt ?? null,
      attempt === undefined ? '[]' : `[${attempt}]`,
      failedUrls ?? '[]',
      reason ?? null,
      state === 'dead' ? now : null,
    );
  }

  /** Leases what is due, the oldest first, and takes its room, until that is used up; rows as they were before. */
  claim(destination: string, room: ClaimLimit, now: number): DeliveryRow[] {
    const claimed: DeliveryRow[] = [];
    while (!isUsedUp(room)) {
      const wanted = Math.min(room.deliveries, SLICE);
      const rows = toDeliveryRows(this.statements.due.all(destination, now, room.windowBefore, wanted));
      for (const row of rows) {
        if (isUsedUp(room)) break;
        this.statements.lease.run(now, row.id);
        room.deliveries--;
        room.bytes -= row.bytes;
        claimed.push(row);
      }
      if (rows.length < wanted) break;
    }
    return claimed;
  }

  /** When the next one falls due, in ms since the epoch. */
  nextDueAt(destination: string): number | undefined {
    return (this.statements.nextDue.get(destination) as { due_at: number | null }).due_at ?? undefined;
  }

  /** Settles a leased delivery; false when it is not leased. */
  settle({ id, state, attempt, firstAttemptAt, dueAt, failedUrls, reason }: SettlementRow, now: number): boolean {
    if (state === 'released') return this.statements.release.run(firstAttemptAt ?? null, id).changes > 0;
    const endedAt = state === 'waiting' ? null : now;
    return (
      this.statements.settle.run(
        state,
        attempt ?? null,
        firstAttemptAt ?? null,
        dueAt ?? null,
        failedUrls ?? null,
        reason ?? null,
        endedAt,
        id,
      ).changes > 0
    );
  }
}
