import { Fifo } from '../../client/delivery/fifo.js';
import { QueueUnavailableError } from '../../common/relay.errors.js';

const MIB = 1024 * 1024;

/** Size of the deliveries that may be in storage at once, and of those that may wait for it, in bytes. */
const MAX_BYTES = 32 * MIB;

/** Limits the memory of deliveries that all requests of a process are storing. */
export class StoringLimit {
  private held = 0;
  private waiting = 0;
  private readonly turns = new Fifo<{ bytes: number; begin: () => void }>();

  /**
   * Returns undefined if there is room for deliveries of this size, or else a promise that resolves once there is; they
   * take it until `release`.
   *
   * @param isBegun whether a part of their request is stored already, so that it is not refused
   * @throws {QueueUnavailableError} if too many others wait
   */
  take(bytes: number, isBegun: boolean): Promise<void> | undefined {
    if (this.turns.length === 0 && this.fits(bytes)) {
      this.held += bytes;
      return undefined;
    }
    if (!isBegun && this.waiting + bytes > MAX_BYTES) {
      throw new QueueUnavailableError(
        `deliveries of ${MAX_BYTES / MIB} MiB are being stored, and as many wait: send less at once`,
      );
    }
    this.waiting += bytes;
    return new Promise<void>((begin) => this.turns.push({ bytes, begin }));
  }

  release(bytes: number): void {
    this.held -= bytes;
    for (let next = this.turns.peek(); next && this.fits(next.bytes); next = this.turns.peek()) {
      this.turns.shift();
      this.waiting -= next.bytes;
      this.held += next.bytes;
      next.begin();
    }
  }

  private fits(bytes: number): boolean {
    return this.held === 0 || this.held + bytes <= MAX_BYTES;
  }
}
