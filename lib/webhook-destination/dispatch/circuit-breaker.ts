/** Consecutive failed attempts after which a destination counts as down. */
const THRESHOLD = 10;

/** Longest wait between two probes, in ms: the longest a recovery goes unnoticed. */
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

  /** Whether deliveries are held back. */
  get isOpen(): boolean {
    return this.interval > 0;
  }

  /** Whether it has been open since then, in ms since the epoch. */
  isOpenSince(moment: number): boolean {
    return this.isOpen && this.openedAt <= moment;
  }

  /** Number of the probe that is under way; 0 while none is. */
  get probe(): number {
    return this.currentProbe;
  }

  /**
   * Whether an attempt may be made; while the circuit is open, the caller then has the probe and must end it.
   *
   * @param isLast whether the delivery has no other chance: it need not wait for the moment of the next probe
   */
  admits(now: number, isLast = false): boolean {
    if (!this.isOpen) return true;
    if (this.currentProbe > 0 || (now < this.probeAt && !isLast)) return false;
    this.currentProbe = ++this.lastProbe;
    return true;
  }

  /** When a delivery that was not admitted may ask again, in whole ms since the epoch: at the next probe. */
  holdUntil(now: number): number {
    return Math.ceil(this.currentProbe > 0 ? now + this.interval : this.probeAt);
  }

  /**
   * When the window of a delivery that was never attempted began, in ms since the epoch: when the destination kept it
   * from its first attempt. Undefined while it does not.
   */
  windowStart(acceptedAt: number): number | undefined {
    return this.isOpen ? Math.max(acceptedAt, this.openedAt) : undefined;
  }

  /** The receiver answered an attempt, so it is not down. */
  succeed(): CircuitChange {
    this.failures = 0;
    if (!this.isOpen) return undefined;
    this.interval = 0;
    this.currentProbe = 0;
    return 'closed';
  }

  /**
   * An attempt failed with a retryable error.
   *
   * @param probe its number, if it was a probe; one from before the circuit last closed is ignored
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
