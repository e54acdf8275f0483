import { type ClientTelemetry, isClientTelemetry } from '../../client/telemetry/client-telemetry.interface.js';
import type { TraceFields } from '../../client/telemetry/trace-context.js';
import type { Metric } from './metric.js';

/** A delivery of which an attempt begins. */
export interface AttemptedDelivery {
  readonly destination: string;
  readonly source: string;
  readonly messageId: string;
  /** The trace that the message was recorded in: `traceparent`, and after a space `tracestate`. */
  readonly trace?: string | undefined;
  /** In ms since the epoch, by the queue's time. */
  readonly acceptedAt: number;
  /** Attempts before this one. */
  readonly attempts: readonly unknown[];
}

/** A URL that an attempt posts to. */
export interface RequestTarget {
  /** Without user info and query. */
  readonly shown: string;
}

/** One POST of an attempt. */
export interface RequestSpan {
  /** What a receiver gets that is part of the trace. */
  readonly trace: TraceFields | undefined;
  /** @param error why there was no answer */
  end(status: number | undefined, error?: unknown): void;
}

/** One attempt to deliver. */
export interface AttemptSpan {
  /** Called as a request is made. */
  request(target: RequestTarget): RequestSpan | undefined;
  /** @param state what became of the delivery: `delivered`, `waiting` or `dead` */
  end(state: string): void;
}

/** Observes a relay at work. Its methods must not throw. */
export interface RelayTelemetry {
  /**
   * Runs what puts deliveries into the queue.
   *
   * @param add rejects where the queue cannot take them
   */
  enqueue(deliveries: readonly { destination: string }[], add: () => Promise<void>): Promise<void>;
  /** Called as an attempt begins. */
  attempt(delivery: AttemptedDelivery): AttemptSpan;
}

/** What the option `telemetry` takes: `openTelemetry()` of `nestjs-analytics-relay/opentelemetry` makes one. */
export interface Telemetry extends ClientTelemetry, RelayTelemetry {
  /**
   * Reads metrics from now on; it may be called again with the same ones.
   *
   * @returns ends it, as a relay stops; it may be left out
   */
  observe?(metrics: readonly Metric[]): (() => void) | void;
}

/** Whether the value has the methods of a {@link Telemetry}. */
export function isTelemetry(value: unknown): boolean {
  if (!isClientTelemetry(value)) return false;
  const { enqueue, attempt, observe } = value as Partial<Telemetry>;
  return (
    typeof enqueue === 'function' &&
    typeof attempt === 'function' &&
    (observe === undefined || typeof observe === 'function')
  );
}
