/**
 * Result class of an attempt: delivered, failed and retryable, or failed permanently.
 *
 * @see docs/specification.md, "Delivery attempts"
 */
export type OutcomeClass = 'success' | 'temporary' | 'permanent';

/** Beginning of what a receiver answered to a failed attempt. It may contain personal data, like the body it answers. */
export interface KeptAnswer {
  /** Media type, such as `text/html`; absent if the receiver named none. */
  type?: string;
  /**
   * The first 1,024 bytes as text. Secrets of the request and private addresses are `***`. Absent if the answer is
   * binary or compressed.
   */
  text?: string;
  /** Number of bytes read; of an answer above 64 KB, the rest is not read. */
  bytes: number;
}

/** Result of one attempt against one URL. */
export interface UrlResult {
  /** The URL, without user info, query and tokens in its path. */
  url: string;
  outcome: OutcomeClass;
  /** HTTP status of the response, if there was one. */
  status?: number;
  /** What the receiver asked for with the header `webhook-delivery`: to disable its endpoint, or not to get the message again. */
  asked?: 'disable' | 'abort-message';
  /** Why there was no response, or why it could not be read to its end; at most 1,000 characters. */
  error?: string;
  /**
   * The answer, if the attempt failed and the answer has a body. Of a delivery's answers, the newest are kept: 4,096
   * characters of text. None with `delivery.keepAnswers: false`.
   */
  answer?: KeptAnswer;
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
