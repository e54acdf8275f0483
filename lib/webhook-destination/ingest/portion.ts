import type { NewDelivery } from '../queue/delivery-queue.interface.js';

/** Deliveries and bytes from which a portion is full: the event loop serves others before the next one. */
const MAX_DELIVERIES = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Size of a delivery besides its body in memory, in bytes, roughly. */
const OVERHEAD = 512;

/** Deliveries that are stored together, all or none. */
export class Portion {
  readonly deliveries: NewDelivery[] = [];
  /** Size in memory: a store may copy the body for each destination. */
  bytes = 0;

  get isFull(): boolean {
    return this.deliveries.length >= MAX_DELIVERIES || this.bytes >= MAX_BYTES;
  }

  add(delivery: NewDelivery): void {
    this.deliveries.push(delivery);
    this.bytes += delivery.body.length + OVERHEAD;
  }
}
