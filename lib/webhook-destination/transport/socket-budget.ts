import { LineLogger } from '../../common/line.logger.js';
import { processWide } from '../../common/process-wide.util.js';
import type { ConnectionPool } from './connection-pool.js';
import type { ReceiverConnection } from './receiver-connection.js';

/** The default of `delivery.maxSockets`. */
const DEFAULT_LIMIT = 1_024;

/**
 * How long a URL with connections in use waits for one of them before it may open as many again, in ms: a small burst
 * ends before more connections pay off.
 */
const GROWTH_DELAY = 5;

/** When a timer counts as lost, in ms: those of a test with fake timers never fire, and the budget outlasts the test. */
const LOST_AFTER = 1_000;

/** How long a connection must be idle before it makes room for a URL that already has connections, in ms. */
const MIN_IDLE = 1_000;

/** Number of exchanges on the last connection of a URL before it makes room for a URL that has none. */
const TURN = 16;

/** Share of the files a process may open that is available for connections to receivers. */
const SHARE_OF_FILES = 3 / 4;

/**
 * Limits the open connections of the process, including idle ones, and shares them fairly between URLs. A URL takes no
 * more connections than it leaves free. A pool whose requests wait for a connection is in one of three sets:
 *
 * - `unserved`: it has no connection in use, so it comes first. At the limit, it replaces any pool's idle connection.
 * - `delayed`: it has some, of which one may become free before a new connection pays off.
 * - `growing`: none became free in time, so it may open as many again; those with the fewest come first. At the limit, it
 *   replaces only a connection that has been idle for a second and is not the last one of its URL.
 *
 *     request      -> unserved, or delayed if it has a connection in use
 *     delayed      -> growing once the delay is over, if its requests still wait
 *     growing      -> delayed once it has as many again, or for a later check if it got none
 *     unserved     -> delayed once it has a connection, if more requests wait
 *     any of these -> none once no request waits, or by withdraw
 */
export class SocketBudget {
  private readonly logger = new LineLogger('WebhookDestination');
  /** `maxSockets` of each module that delivers. */
  private readonly given = new Map<object, number | undefined>();
  private limit: number;
  private open = 0;
  /** Idle connections, least recently used first. */
  private readonly idle = new Map<ReceiverConnection, ConnectionPool>();
  /** Idle connections that were not the last of their pool when they were parked. */
  private readonly spare = new Set<ReceiverConnection>();
  /** Pools without a connection in use. */
  private readonly unserved = new Set<ConnectionPool>();
  /** Pools that may get more connections, with their number. */
  private readonly growing = new Map<ConnectionPool, number>();
  /** Pools that wait for one of their own connections. */
  private readonly delayed = new Set<ConnectionPool>();
  private timer: NodeJS.Timeout | undefined;
  private timerSetAt = 0;
  private assigning = false;

  /** @param ceiling upper bound of the limit, regardless of the modules' settings */
  constructor(private readonly ceiling = Math.max(1, Math.floor(openFilesLimit() * SHARE_OF_FILES))) {
    this.limit = Math.min(DEFAULT_LIMIT, ceiling);
  }

  /** Applies a module's `maxSockets` until the returned function is called. The lowest value of all modules applies. */
  join(maxSockets: number | undefined): () => void {
    if (maxSockets !== undefined && maxSockets > this.ceiling) {
      this.logger.warn(
        `delivery.maxSockets is ${maxSockets}, but at most ${this.ceiling} connections are opened: three quarters of ` +
          `the ${openFilesLimit()} files that this process may open (ulimit -n)`,
      );
    }
    const module = {};
    this.given.set(module, maxSockets);
    this.updateLimit();
    return () => {
      this.given.delete(module);
      this.updateLimit();
    };
  }

  /** Lets a pool start its requests, immediately or in turn. */
  request(pool: ConnectionPool): void {
    if (pool.busy > 0) return this.delay(pool);
    this.growing.delete(pool);
    this.unserved.add(pool);
    this.assign();
  }

  /** Drops the requests of a pool. */
  withdraw(pool: ConnectionPool): void {
    for (const pools of [this.unserved, this.growing, this.delayed]) pools.delete(pool);
  }

  /** Returns whether a pool may use a connection for its next request instead of leaving it to a pool that has none. */
  mayReuse(connection: ReceiverConnection, pool: ConnectionPool): boolean {
    return this.unserved.size === 0 || (pool.busy === 1 && connection.exchanges % TURN !== 0);
  }

  /** Records that a connection is idle. */
  park(connection: ReceiverConnection, pool: ConnectionPool): void {
    connection.idleSince = performance.now();
    this.idle.set(connection, pool);
    if (pool.hasSpare) this.spare.add(connection);
    this.assign();
  }

  /** Records that a connection is no longer idle. */
  unpark(connection: ReceiverConnection): void {
    this.idle.delete(connection);
    this.spare.delete(connection);
  }

  /** Records that a connection is closed. */
  release(): void {
    this.open--;
    this.assign();
  }

  private delay(pool: ConnectionPool): void {
    this.delayed.add(pool);
    const now = performance.now();
    if (this.timer && now - this.timerSetAt < LOST_AFTER) return;
    clearTimeout(this.timer);
    this.timerSetAt = now;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      for (const pool of this.delayed) {
        if (pool.wants) this.growing.set(pool, pool.busy);
        else this.growing.delete(pool);
      }
      this.delayed.clear();
      this.assign();
      // A connection that is idle now may be idle long enough then.
      for (const growing of this.growing.keys()) this.delay(growing);
    }, GROWTH_DELAY).unref();
  }

  private assign(): void {
    // A request that is not made releases its connection immediately: thousands of such releases must not nest.
    if (this.assigning) return;
    this.assigning = true;
    for (let pool = this.next(); pool; pool = this.next()) {
      const left = (this.growing.get(pool) ?? 1) - 1;
      this.unserved.delete(pool);
      this.growing.delete(pool);
      const { hasIdle } = pool;
      const begin = pool.next();
      if (pool.wants && left > 0) this.growing.set(pool, left);
      else if (pool.wants) this.delay(pool);
      if (hasIdle) {
        begin();
      } else if (this.open < this.limit) {
        this.open++;
        begin();
      } else {
        const connection = this.firstSpare() ?? this.idle.keys().next().value!;
        this.idle.get(connection)!.closeIdle(connection, begin);
      }
    }
    this.assigning = false;
  }

  /** Returns the next pool that may get one more connection; pools that have none come first. */
  private next(): ConnectionPool | undefined {
    if (this.unserved.size + this.growing.size === 0) return undefined;
    const isFull = this.open >= this.limit;
    if (isFull && this.idle.size === 0) return undefined;
    for (const pool of this.unserved) {
      if (pool.wants) return pool;
      this.unserved.delete(pool);
    }
    // A URL keeps its last connection: otherwise URLs used in turn would close each other's.
    if (isFull && performance.now() - (this.firstSpare()?.idleSince ?? Infinity) < MIN_IDLE) return undefined;
    let next: ConnectionPool | undefined;
    for (const pool of this.growing.keys()) {
      if (!pool.wants) this.growing.delete(pool);
      else if (!next || pool.busy < next.busy) next = pool;
      if (next && next.busy <= 1) break;
    }
    // A pool takes no more than it leaves, so the next one need not wait until unresponsive receivers time out.
    return next && next.busy < this.limit - this.open + this.idle.size - 1 ? next : undefined;
  }

  /** Returns the least recently used spare connection. */
  private firstSpare(): ReceiverConnection | undefined {
    for (const connection of this.spare) {
      if (this.idle.get(connection)!.hasSpare) return connection;
      this.spare.delete(connection);
    }
    return undefined;
  }

  private updateLimit(): void {
    const set = [...this.given.values()].filter((value) => value !== undefined);
    this.limit = Math.min(set.length > 0 ? Math.min(...set) : DEFAULT_LIMIT, this.ceiling);
    this.assign();
  }
}

/** Returns the budget that the process shares. */
export function socketBudget(): SocketBudget {
  return processWide('socket-budget', () => new SocketBudget());
}

/** Returns how many files and sockets the process may open; `Infinity` if the system sets or reports no limit. */
function openFilesLimit(): number {
  const { report } = process as { report?: NodeJS.ProcessReport & { excludeNetwork?: boolean } };
  if (!report) return Infinity;
  const { excludeNetwork } = report;
  // Otherwise the report would block while it looks up the names of all peers.
  report.excludeNetwork = true;
  try {
    const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
    const soft = Number(userLimits?.open_files?.soft);
    return soft > 0 ? soft : Infinity;
  } catch {
    return Infinity;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}
