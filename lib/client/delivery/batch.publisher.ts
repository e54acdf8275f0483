import type { PendingEvent } from '../event/pending-event.interface.js';
import type { SerializedMessage } from '../message/serialized-message.js';
import { ValidationError } from '../message/validation.error.js';
import { RelayError } from '../relay.error.js';
import { monotonicNow, startDeadline } from '../timer.limits.js';
import type { BatchAnswer, BatchTransport, Refusal, RejectedEvent } from './batch-transport.interface.js';
import type { DeliverySettings } from './delivery-settings.interface.js';
import { backoffDelay } from './retry-schedule.util.js';

/** Number of times the receiver may postpone a batch without using up a retry. */
const MAX_POSTPONED = 20;

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

/** Sends batches, and retries them after a retryable error. */
export class BatchPublisher {
  /** Time of `monotonicNow` before which the receiver wants no further attempt. */
  private resumeAt = 0;

  constructor(
    private readonly settings: DeliverySettings,
    readonly transport: BatchTransport,
  ) {}

  /**
   * Delivers a batch. Never rejects: resolves with the reason why it was not delivered, or undefined if it was. The batch
   * knows the events that were refused.
   */
  async send(batch: Batch): Promise<unknown> {
    const messages = batch.events.map(({ message }) => message);
    let retries = 0;
    for (let attempt = 0; ; attempt++) {
      let reason: unknown;
      try {
        await this.untilResumed(batch);
        const { refusal, rejected = [] } = await this.attempt(batch, messages, attempt);
        if (!refusal) return batch.reject(rejected);
        if (!refusal.isRetried) return refusal.reason;
        reason = refusal.reason;
        if (this.isPostponed(refusal) && attempt - retries < MAX_POSTPONED) continue;
      } catch (error) {
        reason = error ?? new RelayError('http_client_failed', 'The HTTP client rejected without an error');
      }
      if (retries++ === this.settings.maxRetries) return reason;
      const outcome = await this.sleep(batch, backoffDelay(retries)).catch((error: unknown) => error);
      if (outcome) return outcome;
    }
  }

  /** Whether the receiver set the time of the next attempt. The whole instance then waits. */
  private isPostponed({ retryAfter }: Refusal): boolean {
    if (retryAfter === undefined) return false;
    this.resumeAt = Math.max(this.resumeAt, monotonicNow() + retryAfter);
    return true;
  }

  private async untilResumed(batch: Batch): Promise<void> {
    for (let wait = this.resumeAt - monotonicNow(); wait > 0; wait = this.resumeAt - monotonicNow()) {
      await this.sleep(batch, wait);
    }
  }

  private sleep(batch: Batch, ms: number): Promise<void> {
    return batch.run<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      return () => clearTimeout(timer);
    });
  }

  private attempt(batch: Batch, messages: SerializedMessage[], attempt: number): Promise<BatchAnswer> {
    const { httpRequestTimeout } = this.settings;
    return batch.run((resolve, reject) => {
      const message = `The request took longer than ${httpRequestTimeout} ms`;
      const stopDeadline = startDeadline(httpRequestTimeout, () => reject(new RelayError('request_timeout', message)));
      let abort: (() => void) | undefined;
      void this.transport
        .send(messages, attempt, (stop) => (abort = stop))
        .finally(() => (abort = undefined))
        .then(resolve, reject);
      return () => {
        stopDeadline();
        abort?.();
      };
    });
  }
}
