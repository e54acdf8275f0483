import type { Delivery, Lease } from '../queue/delivery-queue.interface.js';
import { Attempt, type SendResult } from './attempt.js';

/** Decides whether an attempt begins, and gets its results; see `Attempt`. */
export interface AttemptOwner {
  mayBegin(attempt: LeasedAttempt): boolean;
  attempted(attempt: LeasedAttempt, results: SendResult[] | undefined): void;
}

/** An attempt to deliver a leased message. */
export class LeasedAttempt extends Attempt {
  /**
   * @param body the bytes that are sent: the delivery's own, unless the destination has a `transform`
   * @param startedAt when it began, by the queue's time, in ms since the epoch
   * @param probe the circuit's probe that this attempt is, or 0
   * @param isLast whether the delivery is dead if it fails
   */
  constructor(
    readonly lease: Lease,
    delivery: Readonly<Delivery>,
    body: Buffer,
    public startedAt: number,
    readonly probe: number,
    public isLast: boolean,
    private readonly owner: AttemptOwner,
  ) {
    super(delivery, body);
  }

  end(results: SendResult[] | undefined): void {
    this.owner.attempted(this, results);
  }

  protected mayBegin(): boolean {
    return this.owner.mayBegin(this);
  }
}
