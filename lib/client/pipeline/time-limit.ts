import { RelayError } from '../relay.error.js';

/** Limits how long events wait for plugins. */
export class TimeLimit {
  private readonly timers = new Set<NodeJS.Timeout>();
  private isReleased = false;

  /** @param ms The setting `httpRequestTimeout`. */
  constructor(private readonly ms: number) {}

  /**
   * Settles when the work does, or rejects if the work takes too long; its later result is ignored.
   *
   * @param subject Names the work in the error.
   * @param isAwaited Whether the timer keeps the process alive. Default: until {@link release}.
   */
  enforce<T>(subject: string, work: PromiseLike<T>, isAwaited = !this.isReleased): Promise<T> {
    let timer: NodeJS.Timeout;
    const expired = new Promise<never>((_resolve, reject) => {
      const message = `${subject} took longer than ${this.ms} ms (httpRequestTimeout)`;
      timer = setTimeout(() => reject(new RelayError('plugin_timeout', message)), this.ms);
      if (!isAwaited) timer.unref();
      this.timers.add(timer);
    });
    return Promise.race([work, expired]).finally(() => {
      clearTimeout(timer);
      this.timers.delete(timer);
    });
  }

  /** Stops timers from keeping the process alive, because no event waits for plugins any more. */
  release(): void {
    this.isReleased = true;
    for (const timer of this.timers) timer.unref();
  }
}
