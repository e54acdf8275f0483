/** Error of a request that the relay refused, or that did not reach it. */
export class ApiError extends Error {
  constructor(
    /** Status of the answer; 0 if there was none. */
    readonly status: number,
    readonly code: string,
    message: string,
    /** The invalid field, if there is one. */
    readonly field?: string,
    /** Time after which another request may succeed, in s. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** Returns the message of an error as a sentence. */
export function toSentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}
