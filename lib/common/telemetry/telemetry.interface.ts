import { type ClientTelemetry, hasMethods } from '../../client/telemetry/client-telemetry.interface.js';
import type { TraceFields } from '../../client/telemetry/trace-context.js';
import type { Metric } from './metric.js';

/** A delivery that is about to be attempted. */
export interface AttemptedDelivery {
  readonly destination: string;
  readonly source: string;
  readonly messageId: string;
  /**
   * Trace in which the message was recorded: `traceparent`, optionally followed by a space and `tracestate`. One that came
   * with a request begins with `posted` and a space.
   */
  readonly trace?: string | undefined;
  /** Milliseconds since the epoch when the message was accepted, by the queue's clock. */
  readonly acceptedAt: number;
  /** Earlier attempts. */
  readonly attempts: readonly unknown[];
}

/** A URL that an attempt posts to. */
export interface RequestTarget {
  /** The URL without user info, query and tokens in its path. */
  readonly shown: string;
}

/** Span of one POST request of an attempt. */
export interface RequestSpan {
  /** Trace fields to send to the receiver. */
  readonly trace: TraceFields | undefined;
  /** @param error reason why no response was received */
  end(status: number | undefined, error?: unknown): void;
}

/** Span of one delivery attempt. */
export interface AttemptSpan {
  /** Called when a request starts. */
  request(target: RequestTarget): RequestSpan | undefined;
  /** @param state state of the delivery after the attempt: `delivered`, `waiting` or `dead` */
  end(state: string): void;
}

/** Observes a relay. Its methods must not throw. */
export interface RelayTelemetry {
  /**
   * Runs the function that adds deliveries to the queue.
   *
   * @param add rejects if the queue cannot accept them
   */
  enqueue(deliveries: readonly { destination: string }[], add: () => Promise<void>): Promise<void>;
  /** Called when an attempt starts. */
  attempt(delivery: AttemptedDelivery): AttemptSpan;
  /** Called when a delivery is dead, after an attempt or without one. */
  deadLetter?(delivery: { readonly destination: string }): void;
}

/** Value of the option `telemetry`, created by `openTelemetry()` from `nestjs-analytics-relay/opentelemetry`. */
export interface Telemetry extends ClientTelemetry, RelayTelemetry {
  /**
   * Starts reading metrics. It may be called again with the same metrics.
   *
   * @returns a function that stops reading, called when a relay stops; optional
   */
  observe?(metrics: readonly Metric[]): (() => void) | void;
}

/** The part that observes attempts. */
export type DispatchTelemetry = Pick<RelayTelemetry, 'attempt' | 'deadLetter'>;

export function isTelemetry(value: unknown): boolean {
  return hasMethods(value, ['send', 'enqueue', 'attempt'], ['create', 'follow', 'observe', 'deadLetter']);
}
