import type { PendingEvent } from './event.ledger.js';

/** Starts a step and returns what stops it. */
type Start<T> = (resolve: (value: T) => void, reject: (reason: unknown) => void) => () => void;

/** Events on their way in one request, and its retries. */
export class Batch {
  /** Why the batch was given up, once it was. */
  aborted: Error | undefined;
  private interrupt: ((reason: Error) => void) | undefined;

  constructor(readonly events: readonly PendingEvent[]) {}

  /** Runs a step of the delivery, which ends when it is done or the batch is given up; then it is stopped. */
  run<T>(start: Start<T>): Promise<T> {
    if (this.aborted) return Promise.reject(this.aborted);
    let stop: () => void;
    const done = new Promise<T>((resolve, reject) => {
      this.interrupt = reject;
      stop = start(resolve, reject);
    });
    return done.finally(() => stop());
  }

  /** Gives the batch up. */
  abort(reason: Error): void {
    this.aborted ??= reason;
    this.interrupt?.(reason);
  }
}
