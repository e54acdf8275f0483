/** Work took longer than it may. */
export class TimeLimitError extends Error {
  override name = 'TimeLimitError';
}

/** Bounds the time that plugins may take, so that no event waits for one for ever. */
export class TimeLimit {
  private readonly timers = new Set<NodeJS.Timeout>();
  private isReleased = false;

  /** @param ms The setting `httpRequestTimeout`. */
  constructor(private readonly ms: number) {}

  /**
   * Settles as the work does, or rejects with a {@link TimeLimitError} when that takes too long. How the work ends later
   * is ignored.
   *
   * @param subject Names the work in the error.
   * @param isAwaited Whether the process stays alive until then. Default: until {@link release}.
   */
  enforce<T>(subject: string, work: PromiseLike<T>, isAwaited = !this.isReleased): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        reject(new TimeLimitError(`${subject} took longer than ${this.ms} ms (httpRequestTimeout)`));
      }, this.ms);
      if (!isAwaited) timer.unref();
      this.timers.add(timer);
      const stop = () => {
        clearTimeout(timer);
        this.timers.delete(timer);
      };
      void Promise.resolve(work).then(
        (value) => (stop(), resolve(value)),
        (error: unknown) => (stop(), reject(error)), // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors
      );
    });
  }

  /** No event waits for the work any more: from now on, no clock keeps the process alive. */
  release(): void {
    this.isReleased = true;
    for (const timer of this.timers) timer.unref();
  }
}
