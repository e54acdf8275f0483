import { Must, MustBeBoolean } from '../../common/options.rules.js';
import { isPositiveInteger, isPositiveNumber } from '../../common/value.util.js';
import { ConnectionOptions } from '../transport/connection.options.js';
import { isRetryOn, type RetryOn } from './outcome.util.js';

const MILLISECONDS = 'be a number of milliseconds above 0';

/**
 * How messages are sent and retried.
 * @see docs/specification.md, "Delivery attempts" and "Retries"
 */
export class DeliveryOptions extends ConnectionOptions {
  /**
   * How long a delivery is retried, in ms from its first attempt.
   * @default 14_400_000 (4 hours)
   */
  @Must(MILLISECONDS, isPositiveNumber)
  retryWindow: number = 14_400_000;

  /**
   * Wait before the second attempt, in ms; doubled for each one after it.
   * @default 10_000
   */
  @Must(MILLISECONDS, isPositiveNumber)
  initialRetryDelay: number = 10_000;

  /**
   * Longest wait between two attempts, in ms.
   * @default 1_800_000 (30 minutes)
   */
  @Must(MILLISECONDS, isPositiveNumber)
  maxRetryDelay: number = 1_800_000;

  /**
   * Maximum number of deliveries in flight to each destination without its own `concurrency`.
   * @default 64
   */
  @Must('be a whole number above 0', isPositiveInteger)
  concurrency: number = 64;

  /**
   * Which answers are retried. `'spec'`: 5xx, 408, 425 and 429. `'any-failure'`: every status except 2xx, for receivers
   * that answer 404 during a deployment. Redirects are never followed. A self-signed certificate, one for another host
   * and a refused address are never retried.
   * @default 'spec'
   * @see docs/delivery.md, "An attempt"
   */
  @Must("be 'spec' or 'any-failure'", isRetryOn)
  retryOn: RetryOn = 'spec';

  /**
   * Whether deliveries keep the beginning of what their receivers answered to failed attempts: 1 KB each, the newest 4 KB
   * of a delivery. The admin API and the dashboard show it, with secrets of the request and private addresses masked.
   * @default true
   * @see docs/delivery.md, "An attempt"
   */
  @MustBeBoolean()
  keepAnswers: boolean = true;
}
