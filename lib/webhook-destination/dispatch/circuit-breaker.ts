/** Consecutive failed attempts after which a destination counts as down. */
const THRESHOLD = 10;

/** Maximum wait between two probes, in ms: the longest time that a recovery goes unnoticed. */
const MAX_PROBE_INTERVAL = 60_000;

/** How the circuit changed at the end of an attempt. */
export type CircuitChange = 'opened' | 'closed' | undefined;

/**
 * Holds back the deliveries of a destination that fails repeatedly, except for one probe at a time. The first probe that
 * succeeds closes the circuit.
 */
export class CircuitBreaker {
  private failures = 0;
  /** Wait between the last probe and the next, in ms; 0 while the circuit is closed. */
  private interval = 0;
  private probeAt = 0;
  private lastProbe = 0;
  private currentProbe = 0;
  private openedAt = 0;

  /**
   * @param initialInterval wait before the first probe, in ms; doubled for each one after it
   * @param maxInterval longest wait before a probe, in ms; never above a minute
   */
  constructor(
    private readonly initialInterval: number,
    private readonly maxInterval: number,
  ) {}

  get isOpen(): boolean {
    return this.interval > 0;
  }

  /** Returns whether the circuit has been open since a moment, in ms since the epoch. */
  isOpenSince(moment: number): boolean {
    return this.isOpen && this.openedAt <= moment;
  }

  /** Number of the probe in progress; 0 if there is none. */
  get probe(): number {
    return this.currentProbe;
  }

  /**
   * Returns whether an attempt may be made. While the circuit is open, an admitted attempt is the probe, whose result
   * the caller must report.
   *
   * @param isLast whether this is the delivery's last chance: it need not wait for the time of the next probe
   */
  admits(now: number, isLast = false): boolean {
    if (!this.isOpen) return true;
    if (this.currentProbe > 0 || (now < this.probeAt && !isLast)) return false;
    this.currentProbe = ++this.lastProbe;
    return true;
  }

  /** Returns when a delivery that was not admitted may try again, in whole ms since the epoch: at the next probe. */
  holdUntil(now: number): number {
    return Math.ceil(this.currentProbe > 0 ? now + this.interval : this.probeAt);
  }

  /**
   * Returns when the window of a delivery without attempts began, in ms since the epoch: when the open circuit first
   * held it back. Undefined while the circuit is closed.
   */
  windowStart(acceptedAt: number): number | undefined {
    return this.isOpen ? Math.max(acceptedAt, this.openedAt) : undefined;
  }

  /** Records an attempt that the receiver answered: the receiver is not down. */
  succeed(): CircuitChange {
    this.failures = 0;
    if (!this.isOpen) return undefined;
    this.interval = 0;
    this.currentProbe = 0;
    return 'closed';
  }

  /**
   * Records an attempt that failed with a retryable error.
   *
   * @param probe number of the probe, if it was one; a probe from before the circuit last closed is ignored
   */
  fail(now: number, probe = 0): CircuitChange {
    if (probe > 0) {
      if (probe !== this.currentProbe) return undefined;
      this.currentProbe = 0;
      this.wait(this.interval * 2, now);
      return undefined;
    }
    if (this.isOpen || ++this.failures < THRESHOLD) return undefined;
    this.openedAt = now;
    this.wait(this.initialInterval, now);
    return 'opened';
  }

  private wait(interval: number, now: number): void {
    this.interval = Math.min(interval, this.maxInterval, MAX_PROBE_INTERVAL);
    this.probeAt = now + this.interval;
  }
}
