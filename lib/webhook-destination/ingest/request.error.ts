import { RelayError } from '../../client/relay.error.js';

/** When a client may try again while the queue takes nothing, in s. */
export const QUEUE_RETRY_AFTER = 5;

/** A refused request: what the caller is answered. Its code is the rule that was broken. */
export class RequestError extends RelayError {
  override readonly name = 'RequestError';

  constructor(
    /** Status of the answer. */
    readonly status: number,
    code: string,
    message: string,
    /** Path of the field at fault, where there is one. */
    readonly field?: string,
    /** When the caller may try again, in s, where it may. */
    readonly retryAfter?: number,
  ) {
    super(code, message);
  }
}
