import type { SqliteConnection } from './sqlite.connection.js';

import { UNREADABLE } from '../../webhook-destination/queue/dead-reasons.js';
import {
  BATCH_SLOTS,
  type BatchItem,
  type DamageError,
  decodeItems,
  encodeItems,
  encodeOutcomes,
  toText,
  unpackBodies,
} from './batch.codec.js';
import { type BatchReader, toOutcomes } from './batch.reader.js';
import { fromIdText, toIdText } from './delivery-rows.js';
import { RECORD_BYTES } from './sqlite.schema.js';

/** What is known of a delivery of a damaged batch. */
interface Origin {
  destination: string;
  source: string;
  accepted_at: number;
}

/**
 * Sets aside what cannot be read: its deliveries are dead with the reason `UNREADABLE`. The rows are written again with
 * what can be read of them, and empty texts for the rest, so that nothing meets the damage again.
 */
export class DamagedRows {
  private readonly statements = {
    rows: this.db.prepare('SELECT id, destination, source, accepted_at FROM delivery WHERE id >= ? AND id < ?'),
    kill: this.db.prepare(
      `UPDATE delivery SET state = 'dead', reason = '${UNREADABLE}', ended_at = :now, bytes = iif(:isUnreadable, 0, bytes)
       WHERE id >= :first AND id < :end AND state <> 'delivered'`,
    ),
    insert: this.db.prepare(
      `INSERT INTO delivery (id, destination, source, message_id, user_id, state, bytes, accepted_at, due_at, attempts,
         failed_urls, reason, ended_at)
       VALUES (:id, :destination, :source, :messageId, :userId, 'dead', :bytes, :acceptedAt, :acceptedAt, '[]', '[]', '${UNREADABLE}', :now)`,
    ),
    // Not REPLACE, which would leave out the triggers that count.
    removeOutcome: this.db.prepare('DELETE FROM outcome WHERE batch = ?'),
    removeBatch: this.db.prepare('DELETE FROM batch WHERE id = ?'),
    rewrite: this.db.prepare(
      `INSERT INTO batch (id, destination, source, state, size, accepted_at, record_bytes, items, bodies)
       VALUES (?, ?, ?, 'l', ?, ?, ?, ?, ?)`,
    ),
    note: this.db.prepare(
      'INSERT INTO outcome (batch, destination, open, ended_at, delivered, gone, entries) VALUES (?, ?, 0, ?, ?, ?, ?)',
    ),
    repair: this.db.prepare(
      `UPDATE delivery SET attempts = '[]', failed_urls = '[]', reason = NULL, message_id = ?, user_id = ? WHERE id = ?`,
    ),
    ids: this.db.prepare(
      'SELECT CAST(message_id AS BLOB) AS messageId, CAST(user_id AS BLOB) AS userId FROM delivery WHERE id = ?',
    ),
    count: this.db.prepare(`SELECT count(*) AS count FROM delivery WHERE reason = '${UNREADABLE}'`),
  };

  constructor(
    private readonly db: SqliteConnection,
    private readonly reader: BatchReader,
  ) {}

  /** Returns the number of deliveries that are set aside. */
  count(): number {
    return (this.statements.count.get() as { count: number }).count;
  }

  /** Sets aside the deliveries of a damaged row; returns a text that names them. */
  setAside({ table, id, fault }: DamageError, now: number): string {
    const range = table === 'batch' ? [id * BATCH_SLOTS, (id + 1) * BATCH_SLOTS] : [id, id + 1];
    if (table === 'batch') this.rewriteBatch(id, now);
    else this.repairRow(id, now);
    const dead = this.statements.rows.all(...range) as (Origin & { id: number })[];
    const ids =
      dead.length > 1 ? `deliveries ${dead[0]!.id} to ${dead.at(-1)!.id}` : `delivery ${dead[0]?.id ?? range[0]}`;
    return `${ids} of destination "${dead[0]?.destination}" cannot be read (${String(fault)}), and dead; all others are delivered`;
  }

  private repairRow(id: number, now: number): void {
    const ids = this.statements.ids.get(id) as { messageId: Uint8Array; userId: Uint8Array | null };
    const messageId = tryTo(() => fromIdText(ids.messageId)) ?? '';
    this.statements.repair.run(toIdText(messageId), toIdText(tryTo(() => fromIdText(ids.userId))), id);
    this.statements.kill.run({ now, isUnreadable: 0, first: id, end: id + 1 });
  }

  private rewriteBatch(batch: number, now: number): void {
    const first = batch * BATCH_SLOTS;
    const end = first + BATCH_SLOTS;
    const rows = this.statements.rows.all(first, end) as (Origin & { id: number })[];
    const head = this.reader.head(batch);
    const { destination, source, accepted_at: acceptedAt } = (head ?? rows[0])!;
    const outcomes = tryTo(() => toOutcomes(head!.entries)) ?? [];
    const own = new Set(rows.map(({ id }) => id - first));
    const readItems = tryTo(() => decodeItems(toText(head!.items)));
    const places = [(head?.size ?? 0) - 1, ...own, ...outcomes.map(([position]) => position)];
    const items: BatchItem[] = readItems ?? Array.from({ length: Math.max(...places) + 1 }, () => ['', null, 0]);
    const stored = readItems && tryTo(() => this.reader.contents(batch).bodies);
    const areBodiesRead = stored !== undefined && tryTo(() => unpackBodies(items, stored)) !== undefined;
    if (!areBodiesRead) {
      for (const item of items) if (item) item[2] = 0;
      this.statements.kill.run({ now, isUnreadable: 1, first, end });
    }
    const delivered = outcomes.filter((outcome) => outcome.length > 1);
    const settled = new Set(delivered.map(([position]) => position));
    const gone: [number][] = [];
    items.forEach((item, position) => {
      if (item === null || settled.has(position)) return;
      gone.push([position]);
      if (own.has(position)) return;
      const [messageId, userId, bytes] = item;
      const ids = { id: first + position, messageId: toIdText(messageId), userId: toIdText(userId ?? undefined) };
      this.statements.insert.run({ ...ids, destination, source, bytes, acceptedAt, now });
    });
    const size = delivered.length + gone.length;
    const bodies = areBodiesRead ? stored : Buffer.alloc(0);
    this.statements.removeOutcome.run(batch);
    this.statements.removeBatch.run(batch);
    const recordBytes = Math.ceil(bodies.byteLength / size) + RECORD_BYTES;
    this.statements.rewrite.run(batch, destination, source, size, acceptedAt, recordBytes, encodeItems(items), bodies);
    const entries = encodeOutcomes([...delivered, ...gone]);
    this.statements.note.run(batch, destination, now, delivered.length, gone.length, entries);
  }
}

/** Returns the result of a function, or undefined if it throws. */
function tryTo<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
