/** Resolves once this many messages have been delivered since the start. */
export type Delivered = (count: number) => Promise<void>;

/** Counts up to what is waited for. */
export class Counter {
  private count = 0;
  private target = Infinity;
  private resolve: () => void = () => undefined;

  readonly increment = (): void => {
    if (++this.count >= this.target) this.resolve();
  };

  readonly reached: Delivered = (target) =>
    new Promise((resolve) => {
      this.target = target;
      this.resolve = resolve;
      if (this.count >= target) resolve();
    });
}
