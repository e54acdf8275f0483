/** The events recorded between two calls of `flush`. */
export class FlushGroup {
  /** Whether a flush covers these events: they no longer wait for a full batch. */
  isClosed = false;
  /** Fulfilled once these events and all earlier ones have their outcome. */
  readonly done: Promise<void>;
  private resolve!: () => void;

  /** @param holds Number of releases that the group waits for. */
  constructor(
    readonly index: number,
    private holds: number,
  ) {
    this.done = new Promise((resolve) => (this.resolve = resolve));
  }

  hold(): void {
    this.holds++;
  }

  release(): void {
    if (--this.holds === 0) this.resolve();
  }
}
