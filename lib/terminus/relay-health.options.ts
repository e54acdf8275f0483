import { IfGiven, Must } from '../common/options.rules.js';

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

/** Bounds of {@link RelayHealthIndicator.isHealthy}; beyond one of them, the relay is degraded. Default: no bound. */
export class RelayHealthOptions {
  /** Age of the oldest delivery that waits, in ms. */
  @IfGiven()
  @Must('be a whole number of ms, 0 or more', isCount)
  oldestWaiting?: number;

  /**
   * Number of dead deliveries on record. Counting them reads all rows of a queue on PostgreSQL, and asks Redis once for each
   * destination.
   */
  @IfGiven()
  @Must('be a whole number, 0 or more', isCount)
  dead?: number;

  /** Free space of the disk that holds the SQLite file, in bytes. */
  @IfGiven()
  @Must('be a whole number of bytes, 0 or more', isCount)
  freeDisk?: number;
}
