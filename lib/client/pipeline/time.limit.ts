/** Work took longer than it may. */
export class TimeLimitError extends Error {}

/** Bounds the time that plugins may take, so that no event waits for one for ever. */
export class TimeLimit {
  private readonly timers = new Set<NodeJS.Timeout>();

  /** @param ms The setting `httpRequestTimeout`. */
  constructor(private readonly ms: number) {}

  /**
   * Settles as the work does, or rejects with a {@link TimeLimitError} when that takes too long. How the work ends later
   * is ignored.
   *
   * @param subject Names the work in the error.
   */
  enforce<T>(subject: string, work: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        reject(new TimeLimitError(`${subject} took longer than ${this.ms} ms (httpRequestTimeout)`));
      }, this.ms);
      this.timers.add(timer);
      const stop = () => {
        clearTimeout(timer);
        this.timers.delete(timer);
      };
      void Promise.resolve(work).finally(stop).then(resolve, reject);
    });
  }

  /** Stops every clock: nothing waits for the work any more, and no timer may keep the process alive. */
  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }
}
