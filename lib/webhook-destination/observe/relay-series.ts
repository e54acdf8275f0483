import { type Observable, Subscription } from 'rxjs';

import type { DeliveryEvent } from '../dispatch/delivery-event.js';
import type { Acceptance, Refusal } from '../ingest/ingest.result.js';
import type { SeriesStore } from '../queue/series-store.interface.js';
import { type Series, SERIES_TIME, SeriesWriter } from './series.writer.js';

/** Time between two points of a source, in ms. With shorter intervals, a list of sources would read too many points. */
const SOURCE_INTERVAL = 10 * 60_000;

/** Name of the series of all destinations together. */
const TOTAL = '';

/** Prefix of a source's series: the control character keeps it apart from a destination of the same name. */
const SOURCE = 'source\u001f';

/** Latency buckets for each doubling of a duration: a percentile is at most 10 % off. */
const PER_OCTAVE = 4;

/** Names of the counters of a minute. */
export const COUNTERS = ['accepted', 'rejected', 'duplicate', 'routed', 'delivered', 'failed', 'dead'] as const;

export type Counter = (typeof COUNTERS)[number];

type CountsByName = Record<string, number>;

/** Counts of one minute. */
interface MinuteCounts extends Record<Counter, number> {
  /** Number of attempts by bucket of their duration. */
  latencies: CountsByName;
}

/** One minute of a series, as the API answers it. */
export interface SeriesPoint {
  /** Start of the minute, in ms since the epoch. */
  at: number;
  /** Accepted messages, without repeated ones; in the series of a destination, its new deliveries. */
  accepted: number;
  /** Rejected messages and refused requests; in the series of a destination, always 0. */
  rejected: number;
  /**
   * Repeated messages, which are not sent again to any destination; in the series of a destination, deliveries that are
   * not sent again.
   */
  duplicate: number;
  /** New deliveries: one for each destination of an accepted message. */
  routed: number;
  delivered: number;
  /** Failed attempts. */
  failed: number;
  dead: number;
  /** Percentiles of the duration of attempts, in ms; null for a minute without attempts. */
  p50: number | null;
  p95: number | null;
}

/** Points of a series, and percentiles of the duration of all their attempts, in ms; null if there were none. */
export interface SeriesSummary extends Pick<SeriesPoint, 'p50' | 'p95'> {
  points: SeriesPoint[];
}

/** Counts of a source in one interval. */
interface SourceCounts {
  accepted: number;
  /** Number of repeated messages. */
  duplicate: number;
  /** Number of refused messages, and of refused whole requests, by error code. */
  refused: CountsByName;
  /** Time when the source last sent something, in ms since the epoch. */
  lastAt: number;
}

/** Figures of a source for the last day. */
export interface SourceFigures {
  /** Time when the source last sent something, in ms since the epoch; null if not in the last day. */
  lastSeenAt: number | null;
  /** Number of accepted messages, without repeated ones. */
  accepted: number;
  /** Number of repeated messages, which are not sent again. */
  duplicate: number;
  /** Number of refused messages, and of refused whole requests, by error code. */
  refused: CountsByName;
  /** Time between two points, in ms. */
  interval: number;
  /** Empty points are omitted. */
  points: { at: number; accepted: number; refused: number }[];
}

/** Counts what happens to messages and deliveries by the minute, and what each source sends by ten minutes. */
export class RelaySeries {
  private readonly writer: SeriesWriter;
  private readonly minutes: Series<MinuteCounts>;
  private readonly sources: Series<SourceCounts>;
  private readonly subscription = new Subscription();

  constructor(
    store: SeriesStore,
    accepted$: Observable<Acceptance>,
    refused$: Observable<Refusal> | undefined,
    outcomes$: Observable<DeliveryEvent>,
  ) {
    this.writer = new SeriesWriter(store);
    this.minutes = this.writer.add({ interval: 60_000, none: noMinute, add: addMinute });
    this.sources = this.writer.add({ interval: SOURCE_INTERVAL, none: noSource, add: addSource });
    this.subscription.add(accepted$.subscribe((acceptance) => this.countAccepted(acceptance)));
    this.subscription.add(refused$?.subscribe((refusal) => this.countRefused(refusal)));
    this.subscription.add(outcomes$.subscribe((event) => this.countOutcome(event)));
  }

  /**
   * Returns a point for each minute that has counts, oldest first. Without a destination, for all destinations
   * together.
   */
  async read(from: number, to: number, destination = TOTAL): Promise<SeriesPoint[]> {
    return (await this.summarize(from, to, destination)).points;
  }

  /** As {@link read}, with the percentiles of the whole time. */
  async summarize(from: number, to: number, destination: string): Promise<SeriesSummary> {
    const minutes = await this.minutes.read(destination, from, to);
    const sum = noMinute();
    for (const [, counts] of minutes) addMinute(sum, counts);
    const points = minutes.map(([at, { latencies, ...counts }]) => ({ at, ...counts, ...percentilesOf(latencies) }));
    return { points, ...percentilesOf(sum.latencies) };
  }

  /** @param source undefined for requests without a known write key */
  async readSource(source = ''): Promise<SourceFigures> {
    const now = Date.now();
    const intervals = await this.sources.read(SOURCE + source, now - SERIES_TIME, now);
    const sum = noSource();
    for (const [, counts] of intervals) addSource(sum, counts);
    return {
      lastSeenAt: sum.lastAt || null,
      accepted: sum.accepted,
      duplicate: sum.duplicate,
      refused: sum.refused,
      interval: SOURCE_INTERVAL,
      points: intervals.map(([at, { accepted, refused }]) => ({ at, accepted, refused: totalOf(refused) })),
    };
  }

  /** Called before the queue closes. */
  async close(): Promise<void> {
    this.subscription.unsubscribe();
    await this.writer.close();
  }

  private countAccepted({ source, deliveries, repeated, messages, duplicates, rejected }: Acceptance): void {
    const total = this.minutes.now(TOTAL);
    total.accepted += messages.length;
    total.duplicate += duplicates.length;
    total.rejected += rejected.length;
    total.routed += deliveries.length;
    for (const { destination } of deliveries) {
      const minute = this.minutes.now(destination);
      minute.accepted++;
      minute.routed++;
    }
    for (const { destination } of repeated) this.minutes.now(destination).duplicate++;
    const counts = this.sourceNow(source);
    counts.accepted += messages.length;
    counts.duplicate += duplicates.length;
    for (const { code } of rejected) add(counts.refused, code, 1);
  }

  private countRefused({ source, code }: Refusal): void {
    this.minutes.now(TOTAL).rejected++;
    add(this.sourceNow(source).refused, code, 1);
  }

  private countOutcome({ type, destination, results }: DeliveryEvent): void {
    const success = results.find(({ outcome }) => outcome === 'success');
    const duration = success?.duration ?? Math.max(...results.map((result) => result.duration));
    for (const counts of [this.minutes.now(TOTAL), this.minutes.now(destination)]) {
      if (type === 'delivered') counts.delivered++;
      else if (results.length > 0) counts.failed++;
      if (type === 'dead') counts.dead++;
      if (results.length > 0) add(counts.latencies, bucketOf(duration), 1);
    }
  }

  private sourceNow(source = ''): SourceCounts {
    const counts = this.sources.now(SOURCE + source);
    counts.lastAt = Date.now();
    return counts;
  }
}

function noMinute(): MinuteCounts {
  return { accepted: 0, rejected: 0, duplicate: 0, routed: 0, delivered: 0, failed: 0, dead: 0, latencies: {} };
}

function addMinute(sum: MinuteCounts, counts: MinuteCounts): void {
  for (const counter of COUNTERS) sum[counter] += counts[counter];
  for (const [bucket, count] of Object.entries(counts.latencies)) add(sum.latencies, bucket, count);
}

function noSource(): SourceCounts {
  return { accepted: 0, duplicate: 0, refused: {}, lastAt: 0 };
}

function addSource(sum: SourceCounts, { accepted, duplicate, refused, lastAt }: SourceCounts): void {
  sum.accepted += accepted;
  sum.duplicate += duplicate;
  for (const [code, count] of Object.entries(refused)) add(sum.refused, code, count);
  sum.lastAt = Math.max(sum.lastAt, lastAt);
}

function add(counts: CountsByName, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count;
}

function totalOf(counts: CountsByName): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Returns the sums of some counters of the points. */
export function sumOf<C extends Counter>(points: SeriesPoint[], counters: readonly C[]): Record<C, number> {
  const sums = counters.map((counter) => [counter, points.reduce((sum, point) => sum + point[counter], 0)]);
  return Object.fromEntries(sums) as Record<C, number>;
}

/** @param duration in ms */
function bucketOf(duration: number): string {
  return String(Math.max(0, Math.round(Math.log2(Math.max(duration, 1)) * PER_OCTAVE)));
}

function percentilesOf(latencies: CountsByName): Pick<SeriesPoint, 'p50' | 'p95'> {
  return { p50: percentileOf(latencies, 0.5), p95: percentileOf(latencies, 0.95) };
}

/** Returns a percentile of durations by bucket, in ms; null if there are none. For p95, `part` is 0.95. */
function percentileOf(latencies: CountsByName, part: number): number | null {
  const total = totalOf(latencies);
  let passed = 0;
  // Keys that are whole numbers come in their order.
  for (const [bucket, count] of Object.entries(latencies)) {
    passed += count;
    if (passed >= total * part) return Math.round(2 ** (Number(bucket) / PER_OCTAVE) * 10) / 10;
  }
  return null;
}
