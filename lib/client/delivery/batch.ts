import type { PendingEvent } from '../event/pending-event.interface.js';
import { ValidationError } from '../message/validation.error.js';
import type { RejectedEvent } from './batch-transport.interface.js';

/** Starts a step and returns a function that stops it. */
type Start<T> = (resolve: (value: T) => void, reject: (reason: unknown) => void) => () => void;

/** The events of one request and its retries. */
export class Batch {
  aborted: Error | undefined;
  /** Why the receiver refused events of the batch, by their index. */
  rejections: Map<number, Error> | undefined;
  private interrupt: ((reason: Error) => void) | undefined;

  constructor(readonly events: readonly PendingEvent[]) {}

  /** Runs a step of the delivery and stops it when it is done or the batch is aborted. */
  run<T>(start: Start<T>): Promise<T> {
    if (this.aborted) return Promise.reject(this.aborted);
    let stop: () => void;
    const done = new Promise<T>((resolve, reject) => {
      this.interrupt = reject;
      stop = start(resolve, reject);
    });
    return done.finally(() => stop());
  }

  reject(rejected: readonly RejectedEvent[]): void {
    if (rejected.length === 0) return;
    this.rejections = new Map(rejected.map(({ index, ...fault }) => [index, new ValidationError(fault)]));
  }

  abort(reason: Error): void {
    this.aborted ??= reason;
    this.interrupt?.(reason);
  }
}
