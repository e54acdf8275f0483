import { NONE } from '../delivery.factory.js';
import type { NewDelivery } from '../delivery.interface.js';
import { FULL_BATCH, MAX_BATCH } from './delivery-store.interface.js';

interface Call {
  deliveries: NewDelivery[];
  resolve: (repeated: NewDelivery[]) => void;
  reject: (reason: unknown) => void;
}

/** Writes together what is added in one turn of the event loop: under load, that is what many requests add. */
export class AddTurn {
  private calls: Call[] = [];
  /** Deliveries in `calls`. */
  private size = 0;

  /**
   * @param write stores deliveries, all or none; resolves with those of repeated messages, which it skips
   * @param full number of deliveries that are written before the end of the turn
   */
  constructor(
    private readonly write: (deliveries: NewDelivery[]) => Promise<NewDelivery[]>,
    private readonly full: number,
  ) {}

  /** Resolves once the deliveries are stored, with those of repeated messages, which are not. */
  add(deliveries: NewDelivery[]): Promise<NewDelivery[]> {
    return new Promise((resolve, reject) => {
      this.calls.push({ deliveries, resolve, reject });
      this.size += deliveries.length;
      if (this.size >= this.full) this.end();
      else if (this.calls.length === 1) setImmediate(() => this.end());
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
        (repeated) => resolveEach(calls, repeated),
        // One faulty call must not fail the others.
        () => calls.forEach((call) => this.writeOne(call)),
      );
    }
  }

  private writeOne({ deliveries, resolve, reject }: Call): void {
    this.write(deliveries).then(resolve, reject);
  }
}

/** Resolves each call with its own of the deliveries that were skipped. */
function resolveEach(calls: Call[], repeated: NewDelivery[]): void {
  const skipped = new Set(repeated);
  for (const { deliveries, resolve } of calls) {
    resolve(skipped.size === 0 ? NONE : deliveries.filter((delivery) => skipped.has(delivery)));
  }
}

/** Deliveries with the same destination, source and acceptance time. */
type Batch = [NewDelivery, ...NewDelivery[]];

/** Groups deliveries by destination, source and acceptance time, in their order. */
export function toBatches(deliveries: NewDelivery[]): Batch[] {
  const open = new Map<string, { batch: Batch; bytes: number }>();
  const batches: Batch[] = [];
  for (const delivery of deliveries) {
    const last = open.get(delivery.destination);
    const [first] = last?.batch ?? [];
    if (
      last &&
      last.batch.length < MAX_BATCH &&
      last.bytes < FULL_BATCH &&
      first?.source === delivery.source &&
      first.acceptedAt === delivery.acceptedAt
    ) {
      last.batch.push(delivery);
      last.bytes += delivery.body.length;
    } else {
      const started: Batch = [delivery];
      open.set(delivery.destination, { batch: started, bytes: delivery.body.length });
      batches.push(started);
    }
  }
  return batches;
}
