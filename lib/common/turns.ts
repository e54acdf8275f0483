/** Runs work in the order in which it comes, a fixed number of pieces at a time. */
export class Turns {
  private running = 0;
  /** Start those that wait, in their order. */
  private readonly waiting = new Set<() => void>();

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

  /** Settles as the work does; rejects if its turn does not come within the timeout. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.limit) this.running++;
    else await this.wait();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  private wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(start);
        reject(this.refusal());
      }, this.timeout);
      this.waiting.add(start);
    });
  }

  private end(): void {
    const [next] = this.waiting;
    if (!next) {
      this.running--;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
