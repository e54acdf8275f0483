import type { OutcomeClass } from './url.outcome.js';

/** How one URL took one attempt. */
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

/** The end of an attempt that settled it: which delivery, and how its URLs took it so far. */
interface DeliveryAttempt {
  destination: string;
  source: string;
  messageId: string;
  /** Which attempt it was, from 1. */
  attempt: number;
  results: UrlResult[];
}

/** What became of an attempt. */
export type DeliveryEvent =
  | (DeliveryAttempt & { type: 'delivered' })
  | (DeliveryAttempt & { type: 'retry'; nextAttemptAt: Date })
  | (DeliveryAttempt & { type: 'dead'; reason: string });
