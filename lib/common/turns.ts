/** Whose work waits. */
export interface TurnCaller {
  key: string;
  /** The work of callers who may only read comes after that of all others. */
  access: 'read' | 'write';
}

/** The process itself. */
const OWN: TurnCaller = { key: '', access: 'write' };

/** The starts of waiting work by the caller's key, the next caller first. No caller is without any. */
type Waiting = Map<string, Set<() => void>>;

/** Runs work a fixed number of pieces at a time: callers take turns, each in the order in which its work comes. */
export class Turns {
  private running = 0;
  private readonly waiting: Record<TurnCaller['access'], Waiting> = { write: new Map(), read: new Map() };

  /**
   * @param limit pieces of work that run at a time
   * @param timeout maximum wait of a piece of work for its turn, in ms
   * @param refusal creates the error after the timeout
   */
  constructor(
    private readonly limit: number,
    private readonly timeout: number,
    private readonly refusal: () => Error,
  ) {}

  /**
   * Settles as the work does; rejects if its turn does not come within the timeout.
   *
   * @param mostPause the next turn begins later by as long as the work took, but no more than these ms
   */
  async run<T>(work: () => Promise<T>, caller = OWN, mostPause = 0): Promise<T> {
    if (this.running < this.limit) this.running++;
    else await this.wait(caller);
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      const pause = Math.min(performance.now() - startedAt, mostPause);
      if (pause > 0) setTimeout(() => this.end(), pause).unref();
      else this.end();
    }
  }

  private wait({ key, access }: TurnCaller): Promise<void> {
    const waiting = this.waiting[access];
    const starts = waiting.get(key) ?? new Set();
    waiting.set(key, starts);
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        starts.delete(start);
        if (starts.size === 0) waiting.delete(key);
        reject(this.refusal());
      }, this.timeout);
      starts.add(start);
    });
  }

  private end(): void {
    const next = takeNext(this.waiting.write) ?? takeNext(this.waiting.read);
    if (next) next();
    else this.running--;
  }
}

/** Takes the next caller's first piece of work. The caller's others wait for those of all other callers. */
function takeNext(waiting: Waiting): (() => void) | undefined {
  const [next] = waiting;
  if (!next) return undefined;
  const [key, starts] = next;
  const [start] = starts;
  starts.delete(start!);
  waiting.delete(key);
  if (starts.size > 0) waiting.set(key, starts);
  return start;
}
