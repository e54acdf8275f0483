import { foundOnce } from '../../common/found-once.util.js';
import { within } from '../../common/time.util.js';
import { BoundedNames } from '../../common/telemetry/bounded.names.js';
import { countByDestination } from '../../common/telemetry/attributes.util.js';
import { Counter, Gauge, type Metric, type Sample } from '../../common/telemetry/metric.js';
import { OperationMetrics } from '../../common/telemetry/operation-metrics.js';
import type { AttemptedDelivery, AttemptSpan, RelayTelemetry } from '../../common/telemetry/telemetry.interface.js';
import { AttemptMetrics } from './attempt-metrics.js';
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

export class RelayMetrics implements RelayTelemetry {
  private readonly names: BoundedNames;
  private readonly queueing = new OperationMetrics('enqueue');
  private readonly attempts: AttemptMetrics;
  private readonly dead = new Counter({
    name: 'analytics_relay.delivery.dead',
    description: 'Deliveries that became dead, after an attempt or without one, by destination',
  });
  private readonly deadOf = foundOnce((destination: string) => this.dead.of({ destination }));
  private readonly removed = new Counter({
    name: 'analytics_relay.delivery.removed',
    description: 'Delivered and dead deliveries removed because of a count or bytes of retention, by destination and state',
  });
  private readonly rejected = new Counter({
    name: 'analytics_relay.ingest.rejected',
    description: 'Messages and requests rejected at ingest, by code',
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
    this.rejected.of({ code: 'queue_unavailable' }); // from the start, so that Prometheus sees the first as an increase
    this.names = new BoundedNames(maxDestinations);
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
      new Gauge(count, () => read(this.counts())),
      new Gauge(oldest, () => read(this.ages()), 'max'),
      new Gauge(overdue, () => read(this.delays()), 'max'),
      new Gauge(circuit, () => this.circuits(), 'max'),
    ];
  }

  reject(code: string): void {
    this.rejected.add(1, { code });
  }

  async enqueue(deliveries: readonly { destination: string }[], add: () => Promise<void>): Promise<void> {
    const end = this.queueing.begin();
    let reason: unknown;
    try {
      await (this.spans ? this.spans.enqueue(deliveries, add) : add());
    } catch (error) {
      reason = error;
      throw error;
    } finally {
      for (const [destination, count] of countByDestination(deliveries)) {
        end(this.nameOf(destination), count, reason);
      }
    }
  }

  attempt(delivery: AttemptedDelivery): AttemptSpan {
    return this.attempts.begin(delivery, this.nameOf(delivery.destination), this.spans?.attempt(delivery));
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

  /** Returns the value of a destination in attributes. */
  private nameOf(destination: string): string {
    const name = this.names.valueOf(destination);
    this.deadOf(name); // from the first message or attempt, so that Prometheus sees the first one as an increase
    return name;
  }

  private async counts(): Promise<Sample[]> {
    const names = this.names.copy();
    const sums = new Counter({ name: '', description: '' });
    for (const { destination, state, count } of await this.relay.counts()) {
      sums.add(count, { state, destination: names.valueOf(destination) });
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
    const names = this.names.copy();
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
