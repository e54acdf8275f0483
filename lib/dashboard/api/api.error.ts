/** A request that the relay refused, or that did not reach it. */
export class ApiError extends Error {
  constructor(
    /** Of the answer; 0 where there was none. */
    readonly status: number,
    readonly code: string,
    message: string,
    /** Field at fault, where there is one. */
    readonly field?: string,
    /** When another request may succeed, in s. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** The message of an error, as a sentence. */
export function toSentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}
