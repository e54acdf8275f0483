/** Why the receiver did not take a batch. */
export interface Refusal {
  reason: Error;
  /** Whether the batch is sent again. */
  isRetried: boolean;
  /** Milliseconds that the receiver asked to wait before the next attempt. */
  retryAfter?: number | undefined;
}

/** Sends batches: over HTTP, or to a relay in the same process. */
export interface BatchTransport {
  /** Size of an empty batch, in bytes. */
  readonly envelopeBytes: number;
  /** Name of the source that the batches are of, where it is known. */
  readonly source?: string | undefined;
  /**
   * Sends a batch once. Resolves with undefined when the receiver has taken it; a rejection is a retryable error.
   *
   * @param events Their JSON, with commas between them.
   * @param attempt The number of earlier attempts.
   * @param onAbort Registers what to do when the result is no longer awaited.
   */
  send(events: string, attempt: number, onAbort: (stop: () => void) => void): Promise<Refusal | undefined>;
}
