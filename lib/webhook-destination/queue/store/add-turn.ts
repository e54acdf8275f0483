import type { NewDelivery } from '../delivery-queue.interface.js';

/** With this many deliveries, a turn is written before its end: the store works while more requests are read. */
const FULL_TURN = 75;

interface Call {
  deliveries: NewDelivery[];
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/** Writes together what is added in one turn of the event loop: under load, that is what many requests add. */
export class AddTurn {
  private calls: Call[] = [];
  /** Deliveries in `calls`. */
  private size = 0;

  /** @param write stores deliveries, all or none */
  constructor(private readonly write: (deliveries: NewDelivery[]) => Promise<void>) {}

  /** Resolves once the deliveries are stored. */
  add(deliveries: NewDelivery[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.calls.length === 0) setImmediate(() => this.end());
      this.calls.push({ deliveries, resolve, reject });
      this.size += deliveries.length;
      if (this.size >= FULL_TURN) this.end();
    });
  }

  /** Writes what the turn has added so far. */
  end(): void {
    const { calls } = this;
    this.calls = [];
    this.size = 0;
    if (calls.length === 1) this.writeOne(calls[0]!);
    else if (calls.length > 1) {
      this.write(calls.flatMap(({ deliveries }) => deliveries)).then(
        () => calls.forEach(({ resolve }) => resolve()),
        // One faulty call must not fail the others.
        () => calls.forEach((call) => this.writeOne(call)),
      );
    }
  }

  private writeOne({ deliveries, resolve, reject }: Call): void {
    this.write(deliveries).then(resolve, reject);
  }
}
