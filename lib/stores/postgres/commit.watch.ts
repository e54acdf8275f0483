import { createAsyncScope } from '../../client/async-scope.util.js';
import type { PostgresDatabase } from './postgres.database.js';

/** Wait before transactions are looked up, in ms; older ones are looked up less often, as a share of their age. */
const MIN_WAIT = 5;
const MAX_WAIT = 1_000;
const SHARE_OF_AGE = 0.1;

const STATEMENT = {
  name: 'relay_ended',
  text: `
    SELECT xid, status FROM unnest($1::text[]) AS xid, pg_xact_status(xid::xid8) AS status
    WHERE status IS DISTINCT FROM 'in progress'`,
};

interface Watched {
  since: number;
  ended: Promise<boolean>;
  resolve: (isCommitted: boolean) => void;
}

/**
 * Finds out when transactions of the application end. A NOTIFY in them would do so at once, but PostgreSQL lets only one
 * transaction with a NOTIFY commit at a time: bench/README.md, "Transactions".
 */
export class CommitWatch {
  private readonly watched = new Map<string, Watched>();
  private timer: NodeJS.Timeout | undefined;
  /** When the timer fires, in ms by `performance.now()`. */
  private dueAt = Infinity;
  private readonly scope = createAsyncScope('CommitWatch');

  constructor(private readonly database: PostgresDatabase) {}

  /** Resolves with whether the transaction was committed, soon after its end; with false if the queue closes before. */
  ended(xid: string): Promise<boolean> {
    const known = this.watched.get(xid);
    if (known) return known.ended;
    let resolve!: Watched['resolve'];
    const ended = new Promise<boolean>((settle) => (resolve = settle));
    this.watched.set(xid, { since: performance.now(), ended, resolve });
    this.scope.runInAsyncScope(() => this.schedule(MIN_WAIT));
    return ended;
  }

  close(): void {
    clearTimeout(this.timer);
    this.dueAt = Infinity;
    for (const { resolve } of this.watched.values()) resolve(false);
    this.watched.clear();
  }

  private schedule(wait: number): void {
    const dueAt = performance.now() + wait;
    if (dueAt >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = setTimeout(() => void this.lookUp(), wait).unref();
  }

  private async lookUp(): Promise<void> {
    this.dueAt = Infinity;
    let minWait = MIN_WAIT;
    try {
      const rows = await this.database.query<{ xid: string; status: string | null }>(STATEMENT, [
        [...this.watched.keys()],
      ]);
      for (const { xid, status } of rows) {
        this.watched.get(xid)?.resolve(status !== 'aborted'); // null: committed too long ago to be known
        this.watched.delete(xid);
      }
    } catch {
      minWait = MAX_WAIT; // the outage is logged
    }
    if (this.watched.size === 0) return;
    const youngest = Math.max(...[...this.watched.values()].map(({ since }) => since));
    const wait = (performance.now() - youngest) * SHARE_OF_AGE;
    this.schedule(Math.min(Math.max(wait, minWait), MAX_WAIT));
  }
}
