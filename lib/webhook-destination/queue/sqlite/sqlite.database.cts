import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

import Database from 'libsql';

import type { DeliveryCount, DeliveryPage, DeliveryQuery, DeliveryRecord } from '../delivery-queue.interface.js' with {
  'resolution-mode': 'import',
};
import type { Claim, Settlement, StoreEntry } from '../embedded/delivery-store.interface.js' with {
  'resolution-mode': 'import',
};
import { type DeliveryRow, toCondition, toDelivery, toRecord } from './sqlite.rows.cjs';

const SCHEMA_VERSION = 1;

// The index holds only what can be claimed: a delivery that goes out at once never enters it.
const SCHEMA = `
  CREATE TABLE delivery (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    destination TEXT NOT NULL,
    source TEXT NOT NULL,
    message_id TEXT NOT NULL,
    user_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'delivering', 'waiting', 'dead')),
    body TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    first_attempt_at INTEGER,
    attempts TEXT NOT NULL DEFAULT '[]',
    failed_urls TEXT NOT NULL DEFAULT '[]',
    reason TEXT
  ) STRICT;
  CREATE INDEX delivery_due ON delivery (destination, due_at, id) WHERE state IN ('queued', 'waiting');
`;

type StatementName = 'insert' | 'claim' | 'nextDue' | 'remove' | 'retry' | 'bury';

/** The SQL of the queue. It blocks, so it runs in the worker thread alone. */
export class SqliteDatabase {
  private readonly db: Database.Database;
  private readonly statements: Record<StatementName, Database.Statement>;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    this.db = new Database(path);
    try {
      this.prepareFile();
      this.statements = this.prepareStatements();
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  /** Runs work as one durable unit: all of it or none. */
  transaction(work: () => void): void {
    this.db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.db.exec('COMMIT');
    } catch (error) {
      if (this.db.inTransaction) this.db.exec('ROLLBACK');
      throw error;
    }
  }

  insert(entries: StoreEntry[]): string[] {
    return entries.map(({ delivery, leased }) => {
      const { destination, source, messageId, userId = null, body, acceptedAt } = delivery;
      const { lastInsertRowid } = this.statements.insert.run(
        destination,
        source,
        messageId,
        userId,
        leased ? 'delivering' : 'queued',
        body,
        acceptedAt,
        acceptedAt,
        leased ? acceptedAt : null,
      );
      return String(lastInsertRowid);
    });
  }

  claim(destination: string, limit: number, now: number): Claim {
    const rows = this.statements.claim.all(now, destination, now, limit) as DeliveryRow[];
    rows.sort((a, b) => a.due_at - b.due_at || a.id - b.id);
    const next =
      rows.length < limit ? (this.statements.nextDue.get(destination) as { due_at: number | null }).due_at : null;
    return { deliveries: rows.map(toDelivery), nextDueAt: next ?? undefined };
  }

  settle({ id, outcome }: Settlement): void {
    if (outcome.state === 'delivered') {
      this.statements.remove.run(Number(id));
      return;
    }
    const attempt = outcome.attempt ? JSON.stringify(outcome.attempt) : null;
    const failedUrls = JSON.stringify(outcome.failedUrls);
    if (outcome.state === 'waiting') {
      this.statements.retry.run(attempt, attempt, failedUrls, outcome.nextAttemptAt, Number(id));
    } else {
      this.statements.bury.run(attempt, attempt, failedUrls, outcome.reason, Number(id));
    }
  }

  list(query: DeliveryQuery, { limit = 100, after }: DeliveryPage): DeliveryRecord[] {
    const { sql, parameters } = toCondition(query);
    const rows = this.db
      .prepare(`SELECT * FROM delivery WHERE ${sql} AND id < ? ORDER BY id DESC LIMIT ?`)
      .all(...parameters, after === undefined ? Number.MAX_SAFE_INTEGER : Number(after), limit);
    return (rows as DeliveryRow[]).map(toRecord);
  }

  counts(): DeliveryCount[] {
    return this.db
      .prepare('SELECT destination, state, count(*) AS count FROM delivery GROUP BY destination, state')
      .all() as DeliveryCount[];
  }

  replay(query: DeliveryQuery, now: number): string[] {
    const { sql, parameters } = toCondition(query);
    const rows = this.db
      .prepare(
        `UPDATE delivery SET state = 'queued', due_at = ?, first_attempt_at = NULL, failed_urls = '[]', reason = NULL
         WHERE state = 'dead' AND ${sql} RETURNING destination`,
      )
      .all(now, ...parameters);
    return (rows as { destination: string }[]).map(({ destination }) => destination);
  }

  purge(query: DeliveryQuery): number {
    const { sql, parameters } = toCondition(query);
    return this.db.prepare(`DELETE FROM delivery WHERE ${sql}`).run(...parameters).changes;
  }

  close(): void {
    this.db.close();
  }

  private prepareFile(): void {
    // Exclusive locking keeps other processes out until this one ends, however it ends.
    this.db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    this.transaction(() => {
      const [{ user_version: version }] = this.db.pragma('user_version') as [{ user_version: number }];
      if (version > SCHEMA_VERSION)
        throw new Error('the file was written by a newer version of nestjs-analytics-relay');
      if (version === 0) this.db.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION};`);
      // Whatever a crash left in delivery is due again.
      this.db.exec(`UPDATE delivery SET state = 'waiting' WHERE state = 'delivering'`);
    });
  }

  private prepareStatements(): Record<StatementName, Database.Statement> {
    return {
      insert: this.db.prepare(
        `INSERT INTO delivery
           (destination, source, message_id, user_id, state, body, accepted_at, due_at, first_attempt_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      claim: this.db.prepare(
        `UPDATE delivery SET state = 'delivering', first_attempt_at = coalesce(first_attempt_at, ?) WHERE id IN (
           SELECT id FROM delivery WHERE destination = ? AND state IN ('queued', 'waiting') AND due_at <= ?
           ORDER BY due_at, id LIMIT ?)
         RETURNING *`,
      ),
      nextDue: this.db.prepare(
        `SELECT min(due_at) AS due_at FROM delivery WHERE destination = ? AND state IN ('queued', 'waiting')`,
      ),
      remove: this.db.prepare('DELETE FROM delivery WHERE id = ?'),
      retry: this.db.prepare(
        `UPDATE delivery SET state = 'waiting', attempts = iif(? IS NULL, attempts,
             json_insert(attempts, '$[#]', json(?))),
           failed_urls = ?, due_at = ?
         WHERE id = ?`,
      ),
      bury: this.db.prepare(
        `UPDATE delivery SET state = 'dead', attempts = iif(? IS NULL, attempts,
             json_insert(attempts, '$[#]', json(?))),
           failed_urls = ?, reason = ?
         WHERE id = ?`,
      ),
    };
  }
}
