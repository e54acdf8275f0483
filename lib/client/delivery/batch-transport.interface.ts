import type { Endpoint } from '../event/endpoint.interface.js';
import type { MessageFault } from '../message/message.rules.js';
import type { SerializedMessage } from '../message/serialized-message.js';

/** Why the receiver did not accept a batch. */
export interface Refusal {
  reason: Error;
  /** Whether the batch is sent again. */
  isRetried: boolean;
  /** Milliseconds to wait before the next attempt, as requested by the receiver. */
  retryAfter?: number | undefined;
}

/** An event that the receiver refused, although it accepted the batch. */
export interface RejectedEvent extends MessageFault {
  /** Index in the batch, from 0. */
  index: number;
}

/** The receiver's answer to a batch. */
export interface BatchAnswer {
  /** Undefined if the receiver accepted the batch. */
  refusal?: Refusal | undefined;
  rejected?: readonly RejectedEvent[];
}

/** Sends batches: over HTTP, or to a relay in the same process. */
export interface BatchTransport {
  /** Size of an empty batch, in bytes. */
  readonly envelopeBytes: number;
  /** Name of the source that the batches belong to, if known. */
  readonly source?: string | undefined;
  /** Where batches are posted; undefined if they are not sent over HTTP. */
  readonly endpoint?: Endpoint | undefined;
  /**
   * Sends a batch of messages once. Resolves with the receiver's answer; a rejection is a retryable error.
   *
   * @param attempt Number of earlier attempts.
   * @param onAbort Registers a function to call when the result is no longer awaited.
   */
  send(
    messages: readonly SerializedMessage[],
    attempt: number,
    onAbort: (stop: () => void) => void,
  ): Promise<BatchAnswer>;
}
