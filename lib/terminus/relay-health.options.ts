import { IfGiven, Must } from '../common/options.rules.js';
import { isWholeNumber } from '../common/value.util.js';

/** Bounds of {@link RelayHealthIndicator.isHealthy}. A relay that violates one is degraded. Default: no bound. */
export class RelayHealthOptions {
  /** Maximum age of the oldest waiting delivery, in ms. */
  @IfGiven()
  @Must('be a whole number of ms, 0 or above', isWholeNumber)
  oldestWaiting?: number;

  /**
   * Maximum number of dead deliveries on record. Counting them reads every row of a queue in PostgreSQL, and queries
   * Redis once for each destination.
   */
  @IfGiven()
  @Must('be a whole number, 0 or above', isWholeNumber)
  dead?: number;

  /** Minimum free space of the disk with the SQLite file, in bytes. */
  @IfGiven()
  @Must('be a whole number of bytes, 0 or above', isWholeNumber)
  freeDisk?: number;
}
