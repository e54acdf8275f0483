import { processWide } from '../../common/process-wide.util.js';
import { openFilesLimit } from './open-files-limit.js';
import type { ConnectionPool } from './connection-pool.js';
import type { ReceiverConnection } from './receiver-connection.js';

/** The default of `delivery.maxSockets`. */
const DEFAULT_LIMIT = 1_024;

/**
 * How long a URL with connections in use waits for one of them before it may open as many again, in ms: a small burst
 * ends before more connections pay off.
 */
const PATIENCE = 5;

/** How long a connection must be idle before it makes room for a URL that already has connections, in ms. */
const MIN_IDLE = 1_000;

/** Number of exchanges on the last connection of a URL before it makes room for a URL that has none. */
const TURN = 16;

/** Share of the files a process may open that is available for connections to receivers. */
const SHARE_OF_FILES = 3 / 4;

/** Limits the open connections of the process, including idle ones, and shares them fairly between URLs. */
export class SocketBudget {
  /** `maxSockets` of each module that delivers. */
  private readonly given = new Map<object, number | undefined>();
  private limit: number;
  private open = 0;
  /** Idle connections, least recently used first. */
  private readonly idle = new Map<ReceiverConnection, ConnectionPool>();
  /** Idle connections that were not the last of their pool when they were parked. */
  private readonly spare = new Set<ReceiverConnection>();
  /** Pools that want a connection and have none. */
  private readonly starved = new Set<ConnectionPool>();
  /** Pools that want more connections, with the number that they may get now. */
  private readonly waiting = new Map<ConnectionPool, number>();
  /** Pools that will be `waiting`, unless one of their connections becomes free first. */
  private readonly patient = new Set<ConnectionPool>();
  private timer: NodeJS.Timeout | undefined;
  private assigning = false;

  /** @param ceiling upper bound of the limit, regardless of the modules' settings */
  constructor(readonly ceiling = Math.max(1, Math.floor(openFilesLimit() * SHARE_OF_FILES))) {
    this.limit = Math.min(DEFAULT_LIMIT, ceiling);
  }

  /** Applies a module's `maxSockets` until the returned function is called. The lowest value of all modules applies. */
  join(maxSockets: number | undefined): () => void {
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
    if (pool.busy > 0) return this.wait(pool);
    this.waiting.delete(pool);
    this.starved.add(pool);
    this.assign();
  }

  /** Drops the requests of a pool. */
  withdraw(pool: ConnectionPool): void {
    for (const pools of [this.starved, this.waiting, this.patient]) pools.delete(pool);
  }

  /** Returns whether a pool may use a connection for its next request instead of leaving it to a pool that has none. */
  lends(connection: ReceiverConnection, pool: ConnectionPool): boolean {
    return this.starved.size === 0 || (pool.busy === 1 && connection.exchanges % TURN !== 0);
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

  private wait(pool: ConnectionPool): void {
    this.patient.add(pool);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      for (const pool of this.patient) {
        if (pool.wants) this.waiting.set(pool, pool.busy);
        else this.waiting.delete(pool);
      }
      this.patient.clear();
      this.assign();
      // A connection that is idle now may be idle long enough then.
      for (const waiting of this.waiting.keys()) this.wait(waiting);
    }, PATIENCE).unref();
  }

  private assign(): void {
    // A request that is not made releases its connection immediately: thousands of such releases must not nest.
    if (this.assigning) return;
    this.assigning = true;
    for (let pool = this.next(); pool; pool = this.next()) {
      const left = (this.waiting.get(pool) ?? 1) - 1;
      this.starved.delete(pool);
      this.waiting.delete(pool);
      const { hasIdle } = pool;
      const begin = pool.next();
      if (pool.wants && left > 0) this.waiting.set(pool, left);
      else if (pool.wants) this.wait(pool);
      if (hasIdle) {
        begin();
      } else if (this.open < this.limit) {
        this.open++;
        begin();
      } else {
        const connection = this.firstSpare() ?? this.idle.keys().next().value!;
        this.idle.get(connection)!.giveUp(connection, begin);
      }
    }
    this.assigning = false;
  }

  /** Returns the next pool that may get one more connection; pools that have none come first. */
  private next(): ConnectionPool | undefined {
    if (this.starved.size + this.waiting.size === 0) return undefined;
    const isFull = this.open >= this.limit;
    if (isFull && this.idle.size === 0) return undefined;
    for (const pool of this.starved) {
      if (pool.wants) return pool;
      this.starved.delete(pool);
    }
    // A URL keeps its last connection: otherwise URLs used in turn would close each other's.
    if (isFull && performance.now() - (this.firstSpare()?.idleSince ?? Infinity) < MIN_IDLE) return undefined;
    let next: ConnectionPool | undefined;
    for (const pool of this.waiting.keys()) {
      if (!pool.wants) this.waiting.delete(pool);
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
