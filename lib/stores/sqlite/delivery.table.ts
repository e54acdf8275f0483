import type { SqliteConnection } from './sqlite.connection.js';

import { UNREADABLE } from '../../webhook-destination/queue/dead-reasons.js';
import type { ClaimLimit, ReplayQuery } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import {
  DELIVERY_COLUMNS,
  type DeliveryPlace,
  type DeliveryRow,
  isUsedUp,
  type SettlementRow,
  type Slice,
  toCondition,
  toDeliveryRows,
  toIdText,
} from './delivery-rows.js';

/** Rows read at once: their bytes may use up the room before their number does. */
const SLICE = 100;

/** Maximum number of deliveries that one call makes due. */
const SLICE_DUE = 1_000;

/** Deliveries that wait for another attempt, are dead, or were returned; their bodies stay in the batch. */
export class DeliveryTable {
  private readonly statements = {
    insert: this.db.prepare(
      `INSERT INTO delivery (id, destination, source, message_id, user_id, state, bytes, accepted_at, due_at,
         first_attempt_at, attempts, failed_urls, reason, ended_at)
       VALUES (:id, :destination, :source, :messageId, :userId, :state, :bytes, :acceptedAt, :dueAt,
         :firstAttemptAt, :attempts, :failedUrls, :reason, NULL)`,
    ),
    due: this.db.prepare(
      `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE destination = ? AND state IN ('queued', 'waiting') AND due_at <= ?
       ORDER BY due_at, id LIMIT ?`,
    ),
    lease: this.db.prepare(`UPDATE delivery SET state = 'delivering' WHERE id = ?`),
    nextDue: this.db.prepare(
      `SELECT min(due_at) AS due_at FROM delivery WHERE destination = ? AND state IN ('queued', 'waiting')`,
    ),
    expedite: this.db.prepare(
      `UPDATE delivery SET due_at = :now WHERE id IN (
         SELECT id FROM delivery WHERE destination = :destination AND state IN ('queued', 'waiting') AND due_at > :now
         LIMIT ${SLICE_DUE})`,
    ),
    replay: this.db.prepare(
      `UPDATE delivery SET state = 'queued', due_at = :now, first_attempt_at = :now, failed_urls = '[]', reason = NULL,
         ended_at = NULL
       WHERE id = :id`,
    ),
    tryNow: this.db.prepare('UPDATE delivery SET due_at = min(due_at, :now) WHERE id = :id'),
    settle: this.db.prepare(
      `UPDATE delivery SET state = iif(:state = 'released', iif(attempts = '[]', 'queued', 'waiting'), :state),
         first_attempt_at = :firstAttemptAt, reason = :reason,
         ended_at = iif(:state IN ('delivered', 'dead'), :now, NULL),
         attempts = coalesce(:attempts, attempts), due_at = coalesce(:dueAt, due_at), failed_urls = coalesce(:failedUrls, failed_urls)
       WHERE id = :id AND state = 'delivering'`,
    ),
  };

  constructor(private readonly db: SqliteConnection) {}

  /** Ends the leases of an ended process or thread, except those of deliveries in `leased`. */
  recover(leased: number[]): void {
    this.db
      .prepare(
        `UPDATE delivery SET state = 'waiting'
         WHERE state = 'delivering' AND id NOT IN (SELECT value FROM json_each(?))`,
      )
      .run(JSON.stringify(leased));
  }

  /**
   * Adjusts times after the clock was set back by at least `time` ms since the last write: no delivery waits longer
   * than it still had to, and no retry window begins after now.
   */
  setBack(time: number, now: number): void {
    this.db
      .prepare(
        `UPDATE delivery SET due_at = iif(due_at > :now, max(due_at - :time, :now), due_at),
           first_attempt_at = min(first_attempt_at, :now)
         WHERE state IN ('queued', 'waiting') AND (due_at > :now OR first_attempt_at > :now)`,
      )
      .run({ time, now });
  }

  /** Gives a delivery a row of its own, because its batch cannot hold its outcome. */
  insert(row: DeliveryRow): void {
    const { messageId, userId, firstAttemptAt = null, reason = null } = row;
    const ids = { messageId: toIdText(messageId), userId: toIdText(userId) };
    this.statements.insert.run({ ...row, ...ids, firstAttemptAt, reason });
  }

  /** Leases due deliveries, oldest first, and reduces `room` by them, until it is used up. Returns the former rows. */
  claim(destination: string, room: ClaimLimit, now: number): DeliveryRow[] {
    const claimed: DeliveryRow[] = [];
    while (!isUsedUp(room)) {
      const wanted = Math.min(room.deliveries, SLICE);
      const due = this.statements.due.all(destination, now, wanted);
      for (const row of toDeliveryRows(due)) {
        if (isUsedUp(room)) break;
        this.statements.lease.run(row.id);
        room.deliveries--;
        room.bytes -= row.bytes;
        claimed.push(row);
      }
      if (due.length < wanted) break;
    }
    return claimed;
  }

  /** Returns when the next delivery falls due, in ms since the epoch. */
  nextDueAt(destination: string): number | undefined {
    return (this.statements.nextDue.get(destination) as { due_at: number | null }).due_at ?? undefined;
  }

  /**
   * Makes a portion of the deliveries due; returns the destination of each. Goes on after the last one, because a
   * replayed delivery may be dead again by the next call.
   */
  replay(query: ReplayQuery, now: number, after: DeliveryPlace): Slice<string[], DeliveryPlace> {
    const { sql, parameters } = toCondition(query);
    const select = this.db.prepare(
      `SELECT destination, id FROM delivery WHERE reason IS NOT '${UNREADABLE}' AND ${sql} AND (destination, id) > (?, ?)
       ORDER BY destination, id LIMIT ${SLICE_DUE}`,
    );
    const found = select.all(...parameters, after.destination, after.id) as DeliveryPlace[];
    const { replay, tryNow } = this.statements;
    for (const { id } of found) (query.state === 'waiting' ? tryNow : replay).run({ now, id });
    const next = found.length < SLICE_DUE ? undefined : found.at(-1);
    return { result: found.map(({ destination }) => destination), next };
  }

  /** Makes a portion of the open deliveries due; returns the number of those not due before. */
  expedite(destination: string, now: number): number {
    return this.statements.expedite.run({ destination, now }).changes;
  }

  /** Settles a leased delivery; returns false if it is not leased. */
  settle(settlement: SettlementRow, now: number): boolean {
    const { attempts = null, firstAttemptAt = null, dueAt = null, failedUrls = null, reason = null } = settlement;
    const given = { attempts, firstAttemptAt, dueAt, failedUrls, reason };
    return this.statements.settle.run({ ...settlement, ...given, now }).changes > 0;
  }
}
