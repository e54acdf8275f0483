import { processWide } from '../../common/process-wide.util.js';
import { openFilesLimit } from './open-files.limit.js';
import type { ReceiverConnection } from './receiver.connection.js';

/** The default of `delivery.maxSockets`. */
const DEFAULT_LIMIT = 1_024;

/** Share of the files a process may open that is available for connections to receivers. */
const SHARE_OF_FILES = 3 / 4;

/** The owner of connections: the pool of one URL. */
export interface SocketHolder {
  /** Its connections in use. */
  readonly busy: number;
  /** Whether a request waits for a connection. */
  readonly wants: boolean;
  /** Whether one of its connections is idle. */
  readonly hasIdle: boolean;
  /** Takes its next request, with an idle connection if it has one; returns a function that starts it. */
  next(): () => void;
  /** Closes an idle connection; `onClosed` is called when another may take its place. */
  giveUp(socket: ReceiverConnection, onClosed: () => void): void;
}

/** The open connections of the process, idle ones included: never more than its limit, and shared fairly by URL. */
export class SocketBudget {
  /** `maxSockets` of each module that delivers. */
  private readonly given = new Map<object, number | undefined>();
  private limit: number;
  private open = 0;
  /** Least recently used first. */
  private readonly idle = new Map<ReceiverConnection, SocketHolder>();
  private readonly waiting = new Set<SocketHolder>();

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

  /** Whether a holder may use one more connection at once. */
  admits(holder: SocketHolder): boolean {
    return this.waiting.size === 0 && this.mayHave(holder);
  }

  /** Lets a holder start its requests, now or in turn. */
  request(holder: SocketHolder): void {
    this.waiting.add(holder);
    this.assign();
  }

  /** Forgets the requests of a holder. */
  withdraw(holder: SocketHolder): void {
    this.waiting.delete(holder);
  }

  /** A connection is idle. */
  park(socket: ReceiverConnection, holder: SocketHolder): void {
    this.idle.set(socket, holder);
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
    for (let holder = this.first(); holder; holder = this.first()) {
      this.waiting.delete(holder);
      const { hasIdle } = holder;
      const begin = holder.next();
      if (holder.wants) this.waiting.add(holder);
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

  /** The next holder: the first of those with the fewest connections. */
  private first(): SocketHolder | undefined {
    let first: SocketHolder | undefined;
    for (const holder of this.waiting) {
      if (!holder.wants) this.waiting.delete(holder);
      else if (!first || holder.busy < first.busy) first = holder;
      if (first?.busy === 0) break;
    }
    return first && this.mayHave(first) ? first : undefined;
  }

  /** No holder takes more than it leaves: the next one must not wait until unresponsive receivers time out. */
  private mayHave({ busy }: SocketHolder): boolean {
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
