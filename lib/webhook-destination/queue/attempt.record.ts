/**
 * Class of one URL's result: done, to be tried again, or never to be tried again.
 *
 * @see docs/specification.md, "Delivery attempts"
 */
export type OutcomeClass = 'success' | 'temporary' | 'permanent';

/** Result of one attempt against one URL. */
export interface UrlResult {
  /** The URL, without user info and query. */
  url: string;
  outcome: OutcomeClass;
  /** The status of the answer, where there was one. */
  status?: number;
  /** Why there was no answer. */
  error?: string;
  /** Length of the exchange, in ms. */
  duration: number;
}

/** One attempt, as kept with its delivery. */
export interface AttemptRecord {
  /** When it began, in ms since the epoch. */
  startedAt: number;
  /** How its URLs took it, as far as known when it was settled. */
  results: UrlResult[];
}
