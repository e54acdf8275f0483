import type { Delivery, NewDelivery, TakenDelivery } from '../../webhook-destination/queue/delivery.interface.js';
import type { SearchedFields } from '../../webhook-destination/queue/searched-fields.js';
import type { RetentionBound } from '../../webhook-destination/queue/retention.options.js';
import { CallGroup } from '../shared/call-group.js';
import type { Insertion, StoreBatch } from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { encodeKeys, encodeList, encodeText, LeasedDelivery, toKey, toOriginKey } from './delivery.codec.js';
import type { DeliveryStatements } from './delivery.statements.js';
import type { PostgresDatabase } from './postgres.database.js';
import type { ProcessLeases } from './process-leases.js';
import { PORTION } from './statement-runner.js';

/** Maximum wait for PostgreSQL when adding deliveries, in ms. */
const ADD_TIMEOUT = 10_000;

/** Maximum size of the bodies in one statement, in bytes, unless a single body is larger. */
const MAX_BYTES = 4 * 1024 * 1024;

/** A delivery to be stored. */
interface Addition<T extends NewDelivery = NewDelivery> {
  delivery: T;
  isLeased: boolean;
  /** Whether it is stored, rather than skipped because its message is remembered. */
  isStored?: boolean;
  /** The leased delivery, once it is stored. */
  leased?: Delivery;
}

/** A delivery with the key of its message. */
type Entry<T extends NewDelivery> = [key: unknown, addition: Addition<T>];

/** The result of a statement, as `deliveryStatements` describes it. */
interface StoredRow {
  ids: string[];
  places: number[];
}

/** Stores deliveries whose message is not remembered, with one statement for concurrent requests. */
export class DeliveryAdditions {
  private readonly group = new CallGroup<Addition>((additions) => this.write(additions));

  /**
   * @param now the queue's time, in ms since the epoch
   * @param searched the fields by whose values deliveries are searched
   */
  constructor(
    private readonly database: PostgresDatabase,
    private readonly statements: DeliveryStatements,
    private readonly leases: ProcessLeases,
    private readonly messageIds: Required<RetentionBound>,
    private readonly now: () => number,
    private readonly searched: () => SearchedFields,
  ) {}

  /** Stores batches; resolves with what became of each. */
  async add(batches: StoreBatch[]): Promise<Insertion[]> {
    const additions = batches.map(({ deliveries, leased }) =>
      deliveries.map((delivery): Addition => ({ delivery, isLeased: leased })),
    );
    await this.group.add(additions.flat(), ADD_TIMEOUT);
    return additions.map((batch) => ({
      leased: batch.flatMap(({ leased }) => leased ?? []),
      repeated: batch.flatMap(({ delivery, isStored }) => (isStored ? [] : delivery)),
    }));
  }

  /** Stores deliveries of another queue that were not stored before. */
  async take(deliveries: Readonly<TakenDelivery>[]): Promise<void> {
    const additions = deliveries.map((delivery) => ({ delivery, isLeased: false }));
    await this.store('take', additions, toOriginKey, null, (list) => [
      list.map(({ nextAttemptAt }) => nextAttemptAt ?? null),
      list.map(({ firstAttemptAt }) => firstAttemptAt ?? null),
      list.map(({ attempts }) => encodeList(attempts)),
      list.map(({ failedUrls }) => encodeList(failedUrls)),
      list.map(toKey),
    ]);
  }

  /** Resolves once nothing is being stored. */
  idle(): Promise<void> {
    return this.group.idle();
  }

  private async write(additions: Addition[]): Promise<void> {
    const { mark } = this.leases;
    await this.store('insert', additions, toKey, mark, (_, list) => [list.map(({ isLeased }) => isLeased)]);
  }

  /** Runs `statement`, all or none of it, and sets which additions are stored, and the leased deliveries. */
  private async store<T extends NewDelivery>(
    statement: 'insert' | 'take',
    additions: Addition<T>[],
    keyOf: (delivery: T) => string,
    mark: string | null,
    toLists: (deliveries: T[], additions: Addition<T>[]) => unknown[][],
  ): Promise<void> {
    const { age, count } = this.messageIds;
    const remembers = age > 0 && count > 0;
    // If a key occurs twice, the first one counts.
    const byKey = new Map<unknown, Addition<T>>();
    for (const addition of additions) {
      const key = remembers ? keyOf(addition.delivery) : addition;
      if (!byKey.has(key)) byKey.set(key, addition);
    }
    const portions = toPortions([...byKey]);
    const now = this.now();
    const until = Math.min(now + age, Number.MAX_SAFE_INTEGER);
    const stored = await this.database.queryAll<StoredRow>(
      this.statements[statement],
      portions.map((portion) => () => {
        const additions = portion.map(([, addition]) => addition);
        const deliveries = additions.map(({ delivery }) => delivery);
        const sizes = deliveries.map(({ body }) => body.length);
        let end = 0;
        const starts = sizes.map((size) => (end += size) - size + 1);
        return [
          mark,
          now,
          until,
          Buffer.concat(deliveries.map(({ body }) => body)),
          portion.map(([key]) => (remembers ? key : null)),
          deliveries.map(({ destination }) => encodeText(destination)),
          deliveries.map(({ source }) => encodeText(source)),
          deliveries.map(({ messageId }) => encodeText(messageId)),
          deliveries.map(({ userId }) => toColumn(userId)),
          deliveries.map(({ acceptedAt }) => acceptedAt),
          starts,
          sizes,
          deliveries.map(({ trace }) => trace ?? null),
          deliveries.map(({ recordedBy }) => toColumn(recordedBy)),
          deliveries.map(({ body }) => encodeKeys(this.searched().keysOf(body))),
          deliveries.map(({ release }) => toColumn(release)),
          ...toLists(deliveries, additions),
        ];
      }),
    );
    stored.forEach(([row], index) => {
      for (const [order, place] of row!.places.entries()) {
        const [, addition] = portions[index]![place]!;
        addition.isStored = true;
        if (!addition.isLeased || mark !== this.leases.mark) continue; // or the lease has ended meanwhile
        addition.leased = new LeasedDelivery(addition.delivery, row!.ids[order]!, mark);
      }
    });
  }
}

/** Splits entries into those of one statement each. */
function toPortions<T extends NewDelivery>(entries: Entry<T>[]): Entry<T>[][] {
  const portions: Entry<T>[][] = [];
  let bytes = Infinity;
  for (const entry of entries) {
    bytes += entry[1].delivery.body.length;
    if (bytes > MAX_BYTES || portions.at(-1)!.length === PORTION) {
      portions.push([]);
      bytes = entry[1].delivery.body.length;
    }
    portions.at(-1)!.push(entry);
  }
  return portions;
}

function toColumn(text: string | undefined): string | null {
  return text === undefined ? null : encodeText(text);
}
