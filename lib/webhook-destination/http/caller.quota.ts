/** Maximum amount in use at a time. */
export interface QuotaLimits {
  /** By one caller. */
  each: number;
  /** By all callers who may only read, so something is left for the others. */
  readers: number;
  /** By all callers. */
  all: number;
}

/** A caller whose use is counted. */
export interface CountedCaller {
  access: 'read' | 'write';
  /** Identifies the caller. */
  key: string;
}

/** What a caller uses. */
export interface QuotaShare {
  /** Changes the amount; returns false, and changes nothing, if it would exceed a limit. */
  resize(amount: number): boolean;
  /** Ends the use. */
  release(): void;
}

/** Limits what callers use at a time, such as streams or memory. */
export class CallerQuota {
  private readonly used = new Map<string, number>();
  private all = 0;
  private readers = 0;

  constructor(private readonly limits: QuotaLimits) {}

  /** Returns undefined if the amount would exceed a limit. */
  take(caller: CountedCaller, amount: number): QuotaShare | undefined {
    let held = 0;
    const resize = (next: number) => {
      if (!this.add(caller, next - held)) return false;
      held = next;
      return true;
    };
    return resize(amount) ? { resize, release: () => void resize(0) } : undefined;
  }

  private add({ key, access }: CountedCaller, difference: number): boolean {
    const { limits } = this;
    const each = (this.used.get(key) ?? 0) + difference;
    const all = this.all + difference;
    const readers = this.readers + (access === 'read' ? difference : 0);
    const isAbove = each > limits.each || all > limits.all || (access === 'read' && readers > limits.readers);
    if (difference > 0 && isAbove) return false;
    if (each === 0) this.used.delete(key);
    else this.used.set(key, each);
    this.all = all;
    this.readers = readers;
    return true;
  }
}
