import type { MessageType } from '../message/message.interface.js';
import type { AnalyticsEmitter } from '../event/analytics.emitter.js';
import type { TraceFields } from './trace-context.js';

/** A batch that is being sent to the collection service. */
export interface SentBatch {
  /** Name of the source, if known. */
  source: string | undefined;
  /** Number of messages. */
  count: number;
  /** Distinct traces in which the messages were recorded. */
  traces: readonly TraceFields[];
}

/** The part of a client that telemetry observes. */
export interface ObservedClient extends Pick<AnalyticsEmitter, 'on'> {
  /** Number of accepted events without an outcome yet. */
  readonly pendingCount: number;
}

/** Observes a client. Its methods must not throw. */
export interface ClientTelemetry {
  /**
   * Called once, when a client is created.
   *
   * @returns the telemetry to use for this client
   */
  follow?(client: ObservedClient): ClientTelemetry;
  /**
   * Called when a message is recorded, in the async context of the caller.
   *
   * @param source name of the source, if known
   * @returns the trace to store with the message instead of the active one
   */
  create?(type: MessageType, source?: string): TraceFields | undefined;
  /**
   * Runs the function that sends a batch, including retries.
   *
   * @param send resolves with the reason why the batch was not accepted, or undefined if it was
   */
  send(batch: SentBatch, send: () => Promise<unknown>): Promise<unknown>;
}

export function isClientTelemetry(value: unknown): boolean {
  return hasMethods(value, ['send'], ['create', 'follow']);
}

/** Whether a value has the required methods, and no other values in place of the optional ones. */
export function hasMethods(value: unknown, required: string[], optional: string[] = []): boolean {
  const fields = (value ?? {}) as Record<string, unknown>;
  const isMethod = (name: string) => typeof fields[name] === 'function';
  return required.every(isMethod) && optional.every((name) => fields[name] === undefined || isMethod(name));
}
