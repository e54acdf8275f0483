/** State of new memory: the worker holds the lock while it starts. */
const HELD = 0;
const FREE = 1;

/**
 * Held by a thread while it is inside the SQLite driver, which aborts the process if the thread is ended there.
 * `process.exit` ends threads wherever they are, so the process takes the lock first, and keeps it.
 */
export class ThreadLock {
  private readonly state = new Int32Array(this.memory);

  /** @param memory an `Int32`, shared by both threads */
  constructor(private readonly memory: SharedArrayBuffer) {}

  /** Blocks until the other thread releases the lock, or for at most `maxWait` ms. */
  acquire(maxWait = Infinity): void {
    while (Atomics.compareExchange(this.state, 0, FREE, HELD) !== FREE) {
      if (Atomics.wait(this.state, 0, HELD, maxWait) === 'timed-out') return;
    }
  }

  release(): void {
    Atomics.store(this.state, 0, FREE);
    Atomics.notify(this.state, 0);
  }
}
