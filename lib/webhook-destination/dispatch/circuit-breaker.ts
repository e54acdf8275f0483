/** Consecutive failed attempts after which a destination counts as down. */
const THRESHOLD = 10;

/** Maximum wait between two probes, in ms: the longest time that a recovery goes unnoticed. */
const MAX_PROBE_INTERVAL = 60_000;

/** How the circuit changed at the end of an attempt. */
export type CircuitChange = 'opened' | 'closed' | undefined;

/**
 * Holds back the deliveries of a destination: while it fails repeatedly, all except one probe at a time and those whose
 * last attempt is due; in a pause that its receiver asked for, all. The first success closes the circuit.
 */
export class CircuitBreaker {
  private failures = 0;
  /** Wait between the last probe and the next, in ms; 0 while the circuit is closed. */
  private interval = 0;
  private probeAt = 0;
  private lastProbe = 0;
  /** Number of the probe in progress; 0 if there is none. */
  private currentProbe = 0;
  /** End of the pause that the receiver asked for, in ms since the epoch; it may have passed. */
  pausedUntil = 0;
  /** When the circuit last opened, in ms since the epoch. */
  openedAt = 0;

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

  /** Returns whether the pause that the receiver asked for has not ended. */
  isPaused(now: number): boolean {
    return now < this.pausedUntil;
  }

  /**
   * Admits an attempt, or returns undefined. While the circuit is open, the number of the probe is returned if the
   * attempt is one: the caller must report its result. All other attempts are 0.
   *
   * @param isLast whether it is the delivery's last, which an open circuit does not hold back
   */
  admit(now: number, isLast = false): number | undefined {
    if (this.isPaused(now)) return undefined;
    if (!this.isOpen) return 0;
    if (this.currentProbe === 0 && now >= this.probeAt) return (this.currentProbe = ++this.lastProbe);
    return isLast ? 0 : undefined;
  }

  /** Returns when deliveries that were not admitted may try again, in whole ms since the epoch. */
  holdUntil(now: number): number {
    const probeAt = this.currentProbe > 0 ? now + this.interval : this.probeAt;
    return Math.ceil(Math.max(this.pausedUntil, this.isOpen ? probeAt : 0));
  }

  /** Holds back all attempts until a moment, in ms since the epoch; returns whether this begins a pause. */
  pause(until: number, now: number): boolean {
    const begins = !this.isPaused(now) && until > now;
    this.pausedUntil = Math.max(this.pausedUntil, until);
    return begins;
  }

  /** Takes back the probe, of which no request was made: another attempt becomes it. */
  release(probe: number): void {
    if (probe === this.currentProbe) this.currentProbe = 0;
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
