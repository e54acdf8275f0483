import type { MessageType } from '../message/message.interface.js';
import type { AnalyticsEmitter } from '../event/analytics.emitter.js';
import type { TraceFields } from './trace-context.js';

/** A batch on its way to the collection service. */
export interface SentBatch {
  /** Name of the source, where it is known. */
  source: string | undefined;
  /** Number of messages. */
  count: number;
  /** The traces in which its messages were recorded, each once. */
  traces: readonly TraceFields[];
}

/** A client, as what observes it sees it. */
export interface ObservedClient extends Pick<AnalyticsEmitter, 'on'> {
  /** Accepted events without an outcome yet. */
  readonly pendingCount: number;
}

/** Observes a client at work. Its methods must not throw. */
export interface ClientTelemetry {
  /**
   * Called once, as a client is made.
   *
   * @returns what observes this client from now on
   */
  follow?(client: ObservedClient): ClientTelemetry;
  /**
   * Called as a message is recorded, in the async context of the caller.
   *
   * @returns the trace that is stored with it, in place of the active one
   */
  create?(type: MessageType): TraceFields | undefined;
  /**
   * Runs the sending of a batch, with its retries.
   *
   * @param send resolves with why the batch was not taken, or undefined where it was
   */
  send(batch: SentBatch, send: () => Promise<unknown>): Promise<unknown>;
}

/** Whether the value has the methods of a {@link ClientTelemetry}. */
export function isClientTelemetry(value: unknown): boolean {
  const { send, create, follow } = (value ?? {}) as Partial<ClientTelemetry>;
  const isOptional = (method: unknown) => method === undefined || typeof method === 'function';
  return typeof send === 'function' && [create, follow].every(isOptional);
}
