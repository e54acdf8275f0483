import type { Acceptance, Refusal } from '../../ingest/ingest.result.js';
import { SERIES_TIME } from './interval.counts.js';
import type { Series, SeriesWriter } from './series.writer.js';

/** Time between two points, in ms. With shorter intervals, a list of sources would read too many points. */
const SOURCE_INTERVAL = 10 * 60_000;

/** Prefix of a source's series: the control character keeps it apart from a destination of the same name. */
const PREFIX = 'source\u001f';

/** Counts of a source in one interval. */
interface SourceCounts {
  accepted: number;
  /** Number of refused messages, and of refused whole requests, by error code. */
  refused: Record<string, number>;
  /** Time when the source last sent something, in ms since the epoch. */
  lastAt: number;
}

/** Figures of a source for the last day. */
export interface SourceFigures {
  /** Time when the source last sent something, in ms since the epoch; null if not in the last day. */
  lastSeenAt: number | null;
  /** Number of accepted messages. */
  accepted: number;
  /** Number of refused messages, and of refused whole requests, by error code. */
  refused: Record<string, number>;
  /** Time between two points, in ms. */
  interval: number;
  /** Empty points are omitted. */
  points: { at: number; accepted: number; refused: number }[];
}

/** Counts the messages of each source, and its refusals by error code. */
export class SourceRecorder {
  private readonly series: Series<SourceCounts>;

  constructor(writer: SeriesWriter) {
    this.series = writer.add({ interval: SOURCE_INTERVAL, none: noCounts, add: addCounts });
  }

  accepted({ source, messages, rejected }: Acceptance): void {
    const counts = this.countsOf(source);
    counts.accepted += messages.length;
    for (const { code } of rejected) addTo(counts.refused, code, 1);
  }

  refused({ source, code }: Refusal): void {
    addTo(this.countsOf(source).refused, code, 1);
  }

  /** @param source undefined for requests without a known write key */
  async read(source?: string): Promise<SourceFigures> {
    const now = Date.now();
    const intervals = await this.series.read(seriesOf(source), now - SERIES_TIME, now);
    const sum = noCounts();
    for (const [, counts] of intervals) addCounts(sum, counts);
    return {
      lastSeenAt: sum.lastAt || null,
      accepted: sum.accepted,
      refused: sum.refused,
      interval: SOURCE_INTERVAL,
      points: intervals.map(([at, { accepted, refused }]) => ({ at, accepted, refused: total(refused) })),
    };
  }

  private countsOf(source: string | undefined): SourceCounts {
    const counts = this.series.now(seriesOf(source));
    counts.lastAt = Date.now();
    return counts;
  }
}

function seriesOf(source = ''): string {
  return PREFIX + source;
}

function noCounts(): SourceCounts {
  return { accepted: 0, refused: {}, lastAt: 0 };
}

function addCounts(sum: SourceCounts, { accepted, refused, lastAt }: SourceCounts): void {
  sum.accepted += accepted;
  for (const [code, count] of Object.entries(refused)) addTo(sum.refused, code, count);
  sum.lastAt = Math.max(sum.lastAt, lastAt);
}

function addTo(counts: Record<string, number>, code: string, count: number): void {
  counts[code] = (counts[code] ?? 0) + count;
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
