import type { UrlResult } from '../queue/attempt.record.js';

/** An attempt that has been settled: which delivery, and how its URLs took it so far. */
interface SettledAttempt {
  destination: string;
  source: string;
  messageId: string;
  /** Which attempt it was, from 1. */
  attempt: number;
  results: UrlResult[];
}

/** What became of an attempt. */
export type DeliveryEvent =
  | (SettledAttempt & { type: 'delivered' })
  | (SettledAttempt & { type: 'retry'; nextAttemptAt: Date })
  | (SettledAttempt & { type: 'dead'; reason: string });
