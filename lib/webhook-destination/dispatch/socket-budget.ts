import { processWide } from '../../common/process-wide.util.js';
import { openFilesLimit } from './open-files-limit.js';
import type { ConnectionPool } from './connection-pool.js';
import type { ReceiverConnection } from './receiver-connection.js';

/** The default of `delivery.maxSockets`. */
const DEFAULT_LIMIT = 1_024;

/** Share of the files a process may open that is available for connections to receivers. */
const SHARE_OF_FILES = 3 / 4;

/** The open connections of the process, idle ones included: never more than its limit, and shared fairly by URL. */
export class SocketBudget {
  /** `maxSockets` of each module that delivers. */
  private readonly given = new Map<object, number | undefined>();
  private limit: number;
  private open = 0;
  /** Least recently used first. */
  private readonly idle = new Map<ReceiverConnection, ConnectionPool>();
  private readonly waiting = new Set<ConnectionPool>();

  /** @param ceiling the highest limit, whatever the modules set */
  constructor(readonly ceiling = Math.max(1, Math.floor(openFilesLimit() * SHARE_OF_FILES))) {
    this.limit = Math.min(DEFAULT_LIMIT, ceiling);
  }

  /**
   * Takes a module's `maxSockets` into account, until the function returned is called: the lowest that a module sets
   * counts for all.
   */
  join(maxSockets: number | undefined): () => void {
    const module = {};
    this.given.set(module, maxSockets);
    this.updateLimit();
    return () => {
      this.given.delete(module);
      this.updateLimit();
    };
  }

  /** Whether a pool may use one more connection at once. */
  admits(pool: ConnectionPool): boolean {
    return this.waiting.size === 0 && this.mayHave(pool);
  }

  /** Lets a pool start its requests, now or in turn. */
  request(pool: ConnectionPool): void {
    this.waiting.add(pool);
    this.assign();
  }

  /** Forgets the requests of a pool. */
  withdraw(pool: ConnectionPool): void {
    this.waiting.delete(pool);
  }

  /** A connection is idle. */
  park(socket: ReceiverConnection, pool: ConnectionPool): void {
    this.idle.set(socket, pool);
    if (this.waiting.size > 0) this.assign();
  }

  /** A connection is not idle any more. */
  unpark(socket: ReceiverConnection): void {
    this.idle.delete(socket);
  }

  /** A connection is closed. */
  release(): void {
    this.open--;
    this.assign();
  }

  private assign(): void {
    for (let pool = this.first(); pool; pool = this.first()) {
      this.waiting.delete(pool);
      const { hasIdle } = pool;
      const begin = pool.next();
      if (pool.wants) this.waiting.add(pool);
      if (hasIdle) {
        begin();
      } else if (this.open < this.limit) {
        this.open++;
        begin();
      } else {
        const [[socket, owner] = []] = this.idle;
        owner!.giveUp(socket!, begin);
      }
    }
  }

  /** The next pool: the first of those with the fewest connections. */
  private first(): ConnectionPool | undefined {
    let first: ConnectionPool | undefined;
    for (const pool of this.waiting) {
      if (!pool.wants) this.waiting.delete(pool);
      else if (!first || pool.busy < first.busy) first = pool;
      if (first?.busy === 0) break;
    }
    return first && this.mayHave(first) ? first : undefined;
  }

  /** No pool takes more than it leaves: the next one must not wait until unresponsive receivers time out. */
  private mayHave({ busy }: ConnectionPool): boolean {
    const left = this.limit - this.open + this.idle.size - 1;
    return busy === 0 ? left >= 0 : busy < left;
  }

  private updateLimit(): void {
    const set = [...this.given.values()].filter((value) => value !== undefined);
    this.limit = Math.min(set.length > 0 ? Math.min(...set) : DEFAULT_LIMIT, this.ceiling);
    this.assign();
  }
}

/** The budget of this process. */
export function socketBudget(): SocketBudget {
  return processWide('socket-budget', () => new SocketBudget());
}
