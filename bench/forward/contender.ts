import type { TrackMessage } from './messages.js';

/** Resolves once this many messages have been delivered since the start. */
export type Delivered = (count: number) => Promise<void>;

/** One way of forwarding, as the bench drives it. */
export interface Contender {
  /** Queues the messages; they go to the receiver once `start` is called, which resolves when all are delivered. */
  queue(messages: TrackMessage[], receiver: string): Promise<{ start(): Promise<void>; close(): Promise<void> }>;
  /** Takes batches over HTTP and forwards them. */
  serve(receiver: string): Promise<{ url: string; delivered: Delivered; close(): Promise<void> }>;
}

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
