import type { ErrorCode } from './error.codes.js';

/** Base class of all errors of this package. */
export class RelayError extends Error {
  override readonly name: string = 'RelayError';
  /** Stable name of the cause in snake case, such as `queue_full`. Messages may change, codes do not. */
  readonly code: string;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message);
    this.code = code;
    if (options && 'cause' in options) {
      Object.defineProperty(this, 'cause', { value: options.cause, configurable: true, writable: true });
    }
  }
}
