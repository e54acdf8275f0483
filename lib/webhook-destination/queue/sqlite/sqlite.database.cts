import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

import Database from 'libsql';

import type { DeliveryCount } from '../delivery-queue.interface.js' with { 'resolution-mode': 'import' };
import type { Claim, NewDelivery, Settlement, StoredDelivery } from '../embedded/delivery-store.interface.js' with {
  'resolution-mode': 'import',
};

const SCHEMA_VERSION = 1;

// The index holds only what can be claimed: a delivery that goes out at once never enters it.
const SCHEMA = `
  CREATE TABLE delivery (
    id INTEGER PRIMARY KEY,
    destination TEXT NOT NULL,
    source TEXT NOT NULL,
    message_id TEXT NOT NULL,
    user_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'delivering', 'waiting', 'dead')),
    body TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    deadline INTEGER,
    failed_urls TEXT NOT NULL,
    reason TEXT
  ) STRICT;
  CREATE INDEX delivery_due ON delivery (destination, due_at, id) WHERE state IN ('queued', 'waiting');
`;

interface DeliveryRow {
  id: number;
  destination: string;
  source: string;
  message_id: string;
  user_id: string | null;
  body: string;
  accepted_at: number;
  due_at: number;
  attempts: number;
  deadline: number | null;
  failed_urls: string;
}

function toDelivery(row: DeliveryRow): StoredDelivery {
  return {
    id: row.id,
    destination: row.destination,
    source: row.source,
    messageId: row.message_id,
    userId: row.user_id ?? undefined,
    body: row.body,
    acceptedAt: row.accepted_at,
    attempts: row.attempts,
    deadline: row.deadline ?? undefined,
    failedUrls: JSON.parse(row.failed_urls) as string[],
  };
}

/** The SQL of the queue. It blocks, so it runs in the worker thread alone. */
export class SqliteDatabase {
  private readonly db: Database.Database;
  private readonly statements: Record<'insert' | 'claim' | 'nextDue' | 'remove' | 'retry' | 'bury', Database.Statement>;

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

  private prepareStatements(): SqliteDatabase['statements'] {
    return {
      insert: this.db.prepare(
        `INSERT INTO delivery (destination, source, message_id, user_id, state, body, accepted_at, due_at, attempts,
           deadline, failed_urls)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      claim: this.db.prepare(
        `UPDATE delivery SET state = 'delivering' WHERE id IN (
           SELECT id FROM delivery WHERE destination = ? AND state IN ('queued', 'waiting') AND due_at <= ?
           ORDER BY due_at, id LIMIT ?)
         RETURNING *`,
      ),
      nextDue: this.db.prepare(
        `SELECT min(due_at) AS due_at FROM delivery WHERE destination = ? AND state IN ('queued', 'waiting')`,
      ),
      remove: this.db.prepare('DELETE FROM delivery WHERE id = ?'),
      retry: this.db.prepare(
        `UPDATE delivery SET state = 'waiting', attempts = attempts + 1, due_at = ?, deadline = ?, failed_urls = ?
         WHERE id = ?`,
      ),
      bury: this.db.prepare(
        `UPDATE delivery SET state = 'dead', attempts = attempts + 1, deadline = ?, failed_urls = ?, reason = ?
         WHERE id = ?`,
      ),
    };
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

  insert(deliveries: NewDelivery[]): number[] {
    return deliveries.map(({ delivery, leased }) =>
      Number(
        this.statements.insert.run(
          delivery.destination,
          delivery.source,
          delivery.messageId,
          delivery.userId ?? null,
          leased ? 'delivering' : 'queued',
          delivery.body,
          delivery.acceptedAt,
          delivery.acceptedAt,
          delivery.attempts,
          delivery.deadline ?? null,
          JSON.stringify(delivery.failedUrls),
        ).lastInsertRowid,
      ),
    );
  }

  claim(destination: string, limit: number, now: number): Claim {
    const rows = this.statements.claim.all(destination, now, limit) as DeliveryRow[];
    rows.sort((a, b) => a.due_at - b.due_at || a.id - b.id);
    const next =
      rows.length < limit ? (this.statements.nextDue.get(destination) as { due_at: number | null }).due_at : null;
    return { deliveries: rows.map(toDelivery), nextDueAt: next ?? undefined };
  }

  settle({ id, outcome }: Settlement): void {
    if (outcome.state === 'delivered') {
      this.statements.remove.run(id);
      return;
    }
    const failedUrls = JSON.stringify(outcome.failedUrls);
    if (outcome.state === 'waiting') {
      this.statements.retry.run(outcome.nextAttemptAt, outcome.deadline, failedUrls, id);
    } else {
      this.statements.bury.run(outcome.deadline, failedUrls, outcome.reason, id);
    }
  }

  counts(): DeliveryCount[] {
    return this.db
      .prepare('SELECT destination, state, count(*) AS count FROM delivery GROUP BY destination, state')
      .all() as DeliveryCount[];
  }

  close(): void {
    this.db.close();
  }
}
