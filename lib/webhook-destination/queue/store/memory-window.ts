import type { NewDelivery } from '../delivery.interface.js';

/** Deliveries held in memory, as a multiple of the concurrency: enough that the consumer never waits for the store. */
const FACTOR = 16;

/** The same for a store whose deliveries other processes take too. */
const SHARED_FACTOR = 4;

/** Maximum size of the deliveries held in memory, in bytes; the last request or batch may exceed it. */
const BYTES = 16 * 1024 * 1024;

/** Size of a delivery besides its body, in bytes: half of what one in flight takes, with its attempt and timers. */
const OVERHEAD = 2_048;

/**
 * Size of the deliveries held for all destinations, in bytes, from which each holds `SCARCE` deliveries at most: after an
 * outage, thousands of destinations may have a backlog.
 */
const TOTAL_BYTES = 128 * 1024 * 1024;

const SCARCE = 8;

/** Size by which a delivery counts while it is being read, in bytes: many destinations may read at once. */
const ASSUMED_BYTES = 8 * 1024;

/** How much may be read from the store. */
interface Room {
  deliveries: number;
  bytes: number;
}

/** Limits the deliveries of one destination that are in memory: being stored, ready, with the consumer, or being recorded. */
export class MemoryWindow {
  private held = 0;
  /** Their total size, in bytes. */
  private bytes = 0;

  /**
   * @param isShared whether other processes take deliveries from the store too
   * @param total what the windows of all destinations hold
   * @param isLimited whether it holds no more deliveries than the concurrency
   */
  constructor(
    private readonly concurrency: number,
    private readonly isShared: boolean | undefined,
    private readonly total: { bytes: number },
    private readonly isLimited = false,
  ) {}

  get isEmpty(): boolean {
    return this.held === 0;
  }

  /** Whether this many new deliveries may be held; without other processes, the last of them may exceed a window that is not limited. */
  takes(count: number): boolean {
    const last = this.isShared || this.isLimited ? this.held + count - 1 : this.held;
    return last < this.size && this.bytes < BYTES;
  }

  /** Reserves room for a read of the store; returns undefined if there is too little for one. */
  reserve(): Room | undefined {
    const { size } = this;
    const deliveries = size - this.held;
    if (deliveries < Math.min(this.concurrency, Math.ceil(size / 2)) || this.bytes >= BYTES) return undefined;
    const room = { deliveries, bytes: BYTES - this.bytes };
    this.total.bytes += assumed(room);
    return room;
  }

  /** To be called when the read has ended. */
  release(room: Room): void {
    this.total.bytes -= assumed(room);
  }

  hold({ body }: NewDelivery): void {
    this.held++;
    this.count(body.length + OVERHEAD);
  }

  drop({ body }: NewDelivery): void {
    this.held--;
    this.count(-body.length - OVERHEAD);
  }

  private get size(): number {
    if (this.total.bytes >= TOTAL_BYTES) return Math.min(this.concurrency, SCARCE);
    return this.isLimited ? this.concurrency : this.concurrency * (this.isShared ? SHARED_FACTOR : FACTOR);
  }

  private count(bytes: number): void {
    this.bytes += bytes;
    this.total.bytes += bytes;
  }
}

function assumed({ deliveries, bytes }: Room): number {
  return Math.min(deliveries * ASSUMED_BYTES, bytes);
}
