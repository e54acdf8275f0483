import { foundOnce } from '../../common/found-once.util.js';
import { within } from '../../common/promise.util.js';
import { BoundedNames } from '../../common/telemetry/bounded.names.js';
import { RankedNames } from '../../common/telemetry/ranked-names.js';
import { countByDestination } from '../../common/telemetry/attributes.util.js';
import { Counter, endOf, Gauge, type Metric, type Sample } from '../../common/telemetry/metric.js';
import { OperationMetrics } from '../../common/telemetry/operation-metrics.js';
import type {
  AttemptedDelivery,
  AttemptSpan,
  DispatchTelemetry,
  RelayTelemetry,
} from '../../common/telemetry/telemetry.interface.js';
import { AttemptMetrics } from './attempt-metrics.js';
import { SearchPace } from '../queue/delivery-search.js';
import type { QueueFigures } from './queue.figures.js';

/** Time limit for reading one gauge from the queue, in ms. Prometheus waits 10 s for a whole scrape by default. */
const READ_TIMEOUT = 4_000;

/** Values of a relay that its gauges read. */
export interface RelayFigures extends QueueFigures {
  /** Time by the queue's clock, in ms since the epoch. */
  now(): number;
  /** Whether deliveries are sent to a destination: it is enabled, and not paused. */
  isActive(destination: string): boolean;
  circuits(): { destination: string; isOpen: boolean }[];
}

export class RelayMetrics implements DispatchTelemetry {
  private readonly names: RankedNames;
  private readonly queueing = new OperationMetrics('enqueue');
  private readonly attempts: AttemptMetrics;
  private readonly dead = new Counter({
    name: 'analytics_relay.delivery.dead',
    description: 'Deliveries that became dead, after an attempt or without one, by destination',
  });
  private readonly deadOf = foundOnce((destination: string) => this.dead.of({ destination }));
  private readonly removed = new Counter({
    name: 'analytics_relay.delivery.removed',
    description:
      'Delivered and dead deliveries removed because of a count or bytes of retention, by destination and state',
  });
  private readonly rejected = new Counter({
    name: 'analytics_relay.ingest.rejected',
    description: 'Messages and requests rejected at ingest, by code',
  });

  private readonly duplicate = new Counter({
    name: 'analytics_relay.ingest.duplicate',
    description: 'Repeated messages, which are not sent again',
  });

  readonly all: readonly Metric[];

  /**
   * @param maxDestinations maximum number of destinations, and of servers, with series of their own
   * @param spans also observes the relay; requests carry its traces
   */
  constructor(
    private readonly relay: RelayFigures,
    maxDestinations: number,
    private readonly spans: RelayTelemetry | undefined,
  ) {
    // From the start, so that Prometheus sees the first as an increase.
    this.rejected.of({ code: 'queue_unavailable' });
    this.duplicate.of({});
    this.names = new RankedNames(maxDestinations, (names) => this.endSeries(names));
    this.attempts = new AttemptMetrics(new BoundedNames(maxDestinations), () => relay.now());
    const count = {
      name: 'analytics_relay.delivery.count',
      description: 'Deliveries stored in the queue, by destination and state',
    };
    const oldest = {
      name: 'analytics_relay.delivery.oldest_age',
      description: 'Age of the oldest pending delivery, by destination',
      unit: 's',
    } as const;
    const overdue = {
      name: 'analytics_relay.delivery.oldest_overdue',
      description: 'How long the pending delivery that is due first has been overdue, by destination',
      unit: 's',
    } as const;
    const circuit = {
      name: 'analytics_relay.circuit.status',
      description: "1 while the destination's circuit is open, otherwise 0",
    };
    this.all = [
      ...this.queueing.all,
      ...this.attempts.all,
      this.dead,
      this.removed,
      this.rejected,
      this.duplicate,
      new Gauge(count, () => read(this.counts())),
      new Gauge(oldest, () => read(this.ages()), 'max'),
      new Gauge(overdue, () => read(this.delays()), 'max'),
      new Gauge(circuit, () => this.circuits(), 'max'),
    ];
  }

  reject(code: string): void {
    this.rejected.add(1, { code });
  }

  /** Counts repeated messages. */
  repeat(count: number): void {
    this.duplicate.add(count, {});
  }

  /**
   * Measures the storing of deliveries.
   *
   * @param add stores them; resolves with those of repeated messages, which do not count
   */
  async enqueue<D extends { readonly destination: string }>(
    deliveries: readonly D[],
    add: () => Promise<D[]>,
  ): Promise<D[]> {
    const end = this.queueing.begin();
    let repeated: D[] = [];
    let reason: unknown;
    try {
      const store = async () => void (repeated = await add());
      await (this.spans ? this.spans.enqueue(deliveries, store) : store());
      return repeated;
    } catch (error) {
      reason = error;
      throw error;
    } finally {
      const skipped = countByDestination(repeated);
      for (const [destination, count] of countByDestination(deliveries)) {
        end(this.nameOf(destination, count), count - (skipped.get(destination) ?? 0), reason);
      }
    }
  }

  attempt(delivery: AttemptedDelivery): AttemptSpan {
    const { destination } = delivery;
    this.names.count(destination);
    return this.attempts.begin(delivery, () => this.nameOf(destination), this.spans?.attempt(delivery));
  }

  deadLetter(delivery: { readonly destination: string }): void {
    this.deadOf(this.names.valueOf(delivery.destination)).value++;
    this.spans?.deadLetter?.(delivery);
  }

  removeSurplus(surplus: readonly { destination: string; state: string; count: number }[]): void {
    for (const { destination, state, count } of surplus) {
      this.removed.add(count, { state, destination: this.names.valueOf(destination) });
    }
  }

  private endSeries(names: ReadonlySet<string>): void {
    this.queueing.end(names);
    this.attempts.end(names);
    endOf([this.dead, this.removed], names);
    for (const name of names) this.deadOf.forget(name);
  }

  /** Returns the value of a destination in attributes. */
  private nameOf(destination: string, volume = 0): string {
    const name = this.names.count(destination, volume);
    this.deadOf(name); // from the first message or attempt, so that Prometheus sees the first one as an increase
    return name;
  }

  private async counts(): Promise<Sample[]> {
    const counts = await this.relay.counts();
    const names = this.names.forReading();
    const sums = new Counter({ name: '', description: '' });
    const pace = new SearchPace();
    for (const { destination, state, count } of counts) {
      sums.add(count, { state, destination: names.valueOf(destination) });
      if (pace.isDue) await pace.pause();
    }
    return sums.collect();
  }

  private async ages(): Promise<Sample[]> {
    const oldest = await this.relay.oldest();
    const now = this.relay.now();
    return this.highest(oldest, ({ acceptedAt }) => Math.max(now - acceptedAt, 0) / 1_000);
  }

  private async delays(): Promise<Sample[]> {
    const oldest = await this.relay.oldest();
    const now = this.relay.now();
    const due = oldest.flatMap(({ destination, dueAt }) =>
      dueAt !== undefined && this.relay.isActive(destination) ? { destination, dueAt } : [],
    );
    return this.highest(due, ({ dueAt }) => Math.max(now - dueAt, 0) / 1_000);
  }

  private circuits(): Sample[] {
    return this.highest(this.relay.circuits(), ({ isOpen }) => Number(isOpen));
  }

  /** Returns the highest value of each name. */
  private highest<T extends { destination: string }>(items: readonly T[], valueOf: (item: T) => number): Sample[] {
    const names = this.names.forReading();
    const values = new Map<string, number>();
    for (const item of items) {
      const name = names.valueOf(item.destination);
      values.set(name, Math.max(values.get(name) ?? 0, valueOf(item)));
    }
    return Array.from(values, ([destination, value]) => ({ attributes: { destination }, value }));
  }
}

/** Leaves a gauge out while the store does not answer, so that the other metrics stay available. */
function read(samples: Promise<Sample[]>): Promise<Sample[] | undefined> {
  return within(READ_TIMEOUT, samples, 'a figure of the queue').catch(() => undefined);
}
