import type { Delivered } from '../support/counter.js';
import type { TrackMessage } from '../support/messages.js';

/** One way of forwarding, as the bench drives it. */
export interface Contender {
  /** Queues the messages; they go to the receiver once `start` is called, which resolves when all are delivered. */
  queue(messages: TrackMessage[], receiver: string): Promise<{ start(): Promise<void>; close(): Promise<void> }>;
  /** Takes batches over HTTP and forwards them. */
  serve(receiver: string): Promise<{ url: string; delivered: Delivered; close(): Promise<void> }>;
}
