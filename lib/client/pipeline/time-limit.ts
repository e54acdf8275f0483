import { RelayError } from '../relay.error.js';

/** Code of the error of a plugin that takes too long. */
export const PLUGIN_TIMEOUT = 'plugin_timeout';

/** Bounds how long events wait for plugins. */
export class TimeLimit {
  private readonly timers = new Set<NodeJS.Timeout>();
  private isReleased = false;

  /** @param ms The setting `httpRequestTimeout`. */
  constructor(private readonly ms: number) {}

  /**
   * Settles as the work does, or rejects when that takes too long; the work's later result is ignored.
   *
   * @param subject Names the work in the error.
   * @param isAwaited Whether the timer keeps the process alive. Default: until {@link release}.
   */
  enforce<T>(subject: string, work: PromiseLike<T>, isAwaited = !this.isReleased): Promise<T> {
    let timer: NodeJS.Timeout;
    const expired = new Promise<never>((_resolve, reject) => {
      const message = `${subject} took longer than ${this.ms} ms (httpRequestTimeout)`;
      timer = setTimeout(() => reject(new RelayError(PLUGIN_TIMEOUT, message)), this.ms);
      if (!isAwaited) timer.unref();
      this.timers.add(timer);
    });
    return Promise.race([work, expired]).finally(() => {
      clearTimeout(timer);
      this.timers.delete(timer);
    });
  }

  /** No event waits for plugins any more: no timer keeps the process alive from now on. */
  release(): void {
    this.isReleased = true;
    for (const timer of this.timers) timer.unref();
  }
}
