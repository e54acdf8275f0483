import { ClosedError } from '../../common/relay.errors.js';
import type { StoreOwner } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { decodeText } from './delivery.codec.js';
import type { PostgresDatabase } from './postgres.database.js';
import { PORTION, restAfter } from './statement-runner.js';

/** How long the leases of a process last without a renewal, in ms. */
const LEASE_TIME = 15_000;

/** Time between renewals, and between checks for leases whose process has ended, in ms. */
const UPKEEP_INTERVAL = 5_000;

/**
 * Time without a renewal after which a process counts as ended, in ms, by the monotonic clock of the process that
 * watches: the server's clock may be set. The third upkeep ends it, even if that is a moment early.
 */
const SILENCE = LEASE_TIME - UPKEEP_INTERVAL / 2;

/**
 * Age from which on a lease that has the mark of this process, but is not held by it, is ended, in ms: the answer that
 * granted it was lost.
 */
const UNKNOWN_AGE = 20_000;

/** Difference up to which the clocks of two machines count as equal, in ms, because an answer takes time. */
const CLOCK_TOLERANCE = 100;

interface FreedRow {
  destination: string;
}

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';

/**
 * The leases of one process. They carry the token of the row in `relay_process` that the process renews, and last as
 * long as this row.
 */
export class ProcessLeases {
  private readonly process = `${this.database.schema}.relay_process`;
  private readonly delivery = `${this.database.schema}.relay_delivery`;
  private current: string | undefined;
  /** When the latest renewal that succeeded began, in ms by `performance.now()`. */
  private renewedAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;
  /** When this process first saw the latest renewal of each process, in ms by `performance.now()`. */
  private renewals = new Map<string, number>();
  /** Server time when `performance.now()` was 0, in ms since the epoch. */
  private serverEpoch: number | undefined;
  /** When lost leases may be searched again, in ms by `performance.now()`. */
  private searchAt = 0;

  /**
   * @param onFreed receives the names of destinations whose leases have ended
   * @param onHeld called when {@link areHeld} is true again
   */
  constructor(
    private readonly database: PostgresDatabase,
    private readonly onFreed: (destinations: string[]) => void,
    private readonly onHeld: () => void,
  ) {}

  /**
   * Mark of the leases of this process. It changes when other processes declared this one dead.
   * @throws {ClosedError} while the process has none
   */
  get mark(): string {
    if (this.current === undefined) throw new ClosedError('the queue is closed');
    return this.current;
  }

  /** Whether it is too early for other processes to declare this one dead: a process that was frozen cannot know. */
  get areHeld(): boolean {
    return performance.now() - this.renewedAt < SILENCE;
  }

  /** Returns the server's time, which all processes schedule by, in ms since the epoch; the local time until known. */
  now(): number {
    const own = Date.now();
    if (this.serverEpoch === undefined) return own;
    const server = this.serverEpoch + performance.now();
    return Math.abs(server - own) > CLOCK_TOLERANCE ? server : Math.max(server, own);
  }

  async open(owner: StoreOwner): Promise<void> {
    await this.join(owner);
    await this.endSilent();
    this.timer = setInterval(() => this.keepUp(owner), UPKEEP_INTERVAL).unref();
  }

  /** Renews the leases of this process; resolves with the server's time, or with undefined if they have ended. */
  async renew(): Promise<number | undefined> {
    const start = performance.now();
    const [alive] = await this.database.query<{ now: number }>(
      `UPDATE ${this.process} SET renewed_at = clock_timestamp() WHERE token = $1::bigint RETURNING ${NOW}`,
      [this.mark],
    );
    if (alive) this.hold(start);
    return alive?.now;
  }

  /** Ends all leases of this process, so that others can take its deliveries at once. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.working;
    this.renewals.clear();
    const mark = this.current;
    if (mark === undefined) return;
    this.current = undefined;
    await this.freeAll(mark);
    await this.database.query(`DELETE FROM ${this.process} WHERE token = $1`, [mark]);
  }

  private keepUp(owner: StoreOwner): void {
    this.working ??= this.runUpkeep(owner)
      // The outage is logged. Other processes may have been unable to renew their leases, too.
      .catch(() => this.renewals.clear())
      .finally(() => (this.working = undefined));
  }

  private async runUpkeep(owner: StoreOwner): Promise<void> {
    const now = await this.renew();
    if (now === undefined) await this.join(owner);
    else this.setClock(now);
    await this.endSilent();
    const start = performance.now();
    if (start < this.searchAt) return;
    await this.freeUnknown(owner);
    await this.freeEnded();
    const end = performance.now();
    this.searchAt = end + restAfter(end - start);
  }

  /** Gives this process a new mark, and withdraws what it leased with the previous one. */
  private async join(owner: StoreOwner): Promise<void> {
    const start = performance.now();
    const [row] = await this.database.query<{ mark: string; now: number }>(
      `INSERT INTO ${this.process} DEFAULT VALUES RETURNING token::text AS mark, ${NOW}`,
    );
    this.setClock(row!.now);
    this.current = row!.mark;
    owner.withdrawn(owner.leased()); // now, because it makes room for claims, which need the new mark
    this.hold(start);
  }

  private hold(renewedAt: number): void {
    this.database.endOutage();
    const wereHeld = this.areHeld;
    this.renewedAt = Math.max(this.renewedAt, renewedAt);
    if (!wereHeld && this.areHeld) this.onHeld();
  }

  private setClock(now: number): void {
    this.serverEpoch = now - performance.now();
  }

  /** Ends leases that this process was granted without its knowledge, because the answer was lost. */
  private async freeUnknown(owner: StoreOwner): Promise<void> {
    const [row] = await this.database.query<{ ids: string[] | null }>(
      `SELECT json_agg(id::text) AS ids FROM ${this.delivery}
       WHERE state = 'delivering' AND lease = $1::bigint AND leased_at < $2::bigint`,
      [this.mark, Math.floor(owner.now() - UNKNOWN_AGE)],
    );
    if (!row?.ids) return;
    const held = new Set(owner.leased());
    const unknown = row.ids.filter((id) => !held.has(id));
    if (unknown.length === 0) return;
    this.report(await this.database.query(this.free('AND id = ANY($2::bigint[])'), [this.mark, unknown]));
  }

  /** Ends processes that did not renew their leases in time. */
  private async endSilent(): Promise<void> {
    const rows = await this.database.query<{ renewal: string }>(`SELECT p::text AS renewal FROM ${this.process} p`);
    const now = performance.now();
    this.renewals = new Map(rows.map(({ renewal }) => [renewal, this.renewals.get(renewal) ?? now]));
    const silent = [...this.renewals].filter(([, since]) => now - since >= SILENCE).map(([renewal]) => renewal);
    if (silent.length === 0) return;
    await this.database.query(
      `DELETE FROM ${this.process} WHERE token IN (
         SELECT token FROM ${this.process} p WHERE p::text = ANY($1::text[]) FOR UPDATE SKIP LOCKED)`,
      [silent],
    );
  }

  /** Ends the leases of ended processes. */
  private async freeEnded(): Promise<void> {
    // The tokens of all leases, each read once from the index.
    const ended = await this.database.query<{ lease: string }>(
      `WITH RECURSIVE tokens AS (
         SELECT min(lease) AS lease FROM ${this.delivery} WHERE state = 'delivering'
         UNION ALL
         SELECT (SELECT min(lease) FROM ${this.delivery} WHERE state = 'delivering' AND lease > tokens.lease) FROM tokens
         WHERE tokens.lease IS NOT NULL
       )
       SELECT lease FROM tokens WHERE lease IS NOT NULL AND lease NOT IN (SELECT token FROM ${this.process})`,
    );
    for (const { lease } of ended) await this.freeAll(lease);
  }

  private async freeAll(mark: string): Promise<void> {
    await this.database.repeat<FreedRow>(this.free(`LIMIT ${PORTION}`), [mark], (freed) => this.report(freed));
  }

  /** SQL that ends leases of the mark $1. */
  private free(which: string): string {
    return `
      WITH freed AS MATERIALIZED (
        SELECT id FROM ${this.delivery} WHERE state = 'delivering' AND lease = $1::bigint ${which} FOR UPDATE SKIP LOCKED)
      UPDATE ${this.delivery} d
      SET state = 'waiting', lease = NULL, leased_at = NULL
      FROM freed WHERE d.id = freed.id RETURNING destination`;
  }

  private report(freed: FreedRow[]): void {
    const names = new Set(freed.map(({ destination }) => decodeText(destination)));
    if (names.size > 0) this.onFreed([...names]);
  }
}
