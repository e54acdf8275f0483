/** When a client may try again while the queue takes nothing, in s. */
export const QUEUE_RETRY_AFTER = 5;

/** A refused request: what the caller is answered. */
export class IngestError extends Error {
  constructor(
    /** Status of the answer. */
    readonly status: number,
    /** The rule's stable name, in snake case. */
    readonly code: string,
    message: string,
    /** Path of the field at fault, where there is one. */
    readonly field?: string,
    /** When the caller may try again, in s, where it may. */
    readonly retryAfter?: number,
  ) {
    super(message);
    this.name = 'IngestError';
  }
}
