import type { GivenUp } from './relay.process.js';
import { DESTINATIONS, type SoakDestination, toIndex } from './soak.plan.js';

/** What became of all messages at one destination. */
export interface Account {
  /** Taken by the receiver, once or more. */
  delivered: number;
  /** Given up, and never taken. */
  givenUp: number;
  /** Neither, though accepted. */
  missing: number;
  /** Taken again after that. */
  repeated: number;
  /** Given up without a request. */
  unattempted: number;
}

/** What became of each message: a byte for each, at each destination. */
export class SoakLedger {
  private readonly accepted: Uint8Array;
  private readonly asked = new Map<SoakDestination, Uint8Array>();
  private readonly taken = new Map<SoakDestination, Uint8Array>();
  private readonly lost = new Map<SoakDestination, Uint8Array>();
  readonly reasons = new Map<string, number>();
  /** Messages answered 200, and webhooks answered 200. */
  acceptedCount = 0;
  takenCount = 0;
  /** Webhooks with a body or a signature that is not their destination's. */
  forgedCount = 0;

  /** @param size most messages */
  constructor(private readonly size: number) {
    this.accepted = new Uint8Array(size);
    for (const destination of DESTINATIONS) {
      this.asked.set(destination, new Uint8Array(size));
      this.taken.set(destination, new Uint8Array(size));
      this.lost.set(destination, new Uint8Array(size));
    }
  }

  accept(index: number): void {
    this.accepted[index] = 1;
    this.acceptedCount++;
  }

  /** Records a request, whatever its answer. */
  ask(destination: SoakDestination, messageId: string): void {
    this.asked.get(destination)![toIndex(messageId)] = 1;
  }

  take(destination: SoakDestination, messageId: string): void {
    const taken = this.taken.get(destination)!;
    const index = toIndex(messageId);
    taken[index] = Math.min(taken[index]! + 1, 255);
    this.takenCount++;
  }

  giveUp({ destination, index, reason }: GivenUp): void {
    const lost = this.lost.get(destination)!;
    if (lost[index] === 0) this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
    lost[index] = 1;
  }

  account(destination: SoakDestination): Account {
    const taken = this.taken.get(destination)!;
    const lost = this.lost.get(destination)!;
    const asked = this.asked.get(destination)!;
    const account: Account = { delivered: 0, givenUp: 0, missing: 0, repeated: 0, unattempted: 0 };
    for (let index = 0; index < this.size; index++) {
      const times = taken[index]!;
      if (times > 0) account.delivered++;
      else if (lost[index] === 1) account.givenUp++;
      else if (this.accepted[index] === 1) account.missing++;
      account.repeated += Math.max(times - 1, 0);
      if (lost[index] === 1 && asked[index] === 0) account.unattempted++;
    }
    return account;
  }
}
