const FREE = 0;
const HELD = 1;

/**
 * Held by a thread while it is inside the SQLite driver, which aborts the process if the thread is ended there.
 * `process.exit` ends threads wherever they are, so the process takes the lock first, and keeps it.
 */
export class ThreadLock {
  private readonly state: Int32Array;

  /** @param memory shared by both threads; at first, the worker holds the lock while it starts */
  constructor(memory: SharedArrayBuffer) {
    this.state = new Int32Array(memory);
  }

  static allocate(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    new Int32Array(memory)[0] = HELD;
    return memory;
  }

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
