/**
 * Result class of an attempt: delivered, failed and retryable, or failed permanently.
 *
 * @see docs/specification.md, "Delivery attempts"
 */
export type OutcomeClass = 'success' | 'temporary' | 'permanent';

/** Result of one attempt against one URL. */
export interface UrlResult {
  /** The URL, without user info, query and tokens in its path. */
  url: string;
  outcome: OutcomeClass;
  /** HTTP status of the response, if there was one. */
  status?: number;
  /** Why there was no response, or why it could not be read to its end; at most 1,000 characters. */
  error?: string;
  /** Duration of the exchange, in ms. */
  duration: number;
}

/** One attempt, as stored with its delivery. */
export interface AttemptRecord {
  /** Start of the attempt, in ms since the epoch. */
  startedAt: number;
  /** URL results known when the attempt was settled; empty if the destination's `transform` sent nothing. */
  results: UrlResult[];
}
