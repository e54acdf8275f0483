/** Attributes of a series, by their names in OpenTelemetry, such as `error.type`. */
export type Attributes = Readonly<Record<string, string | number>>;

/** One value of a metric. */
export interface Sample {
  attributes: Attributes;
  value: number;
}

/** Name in OpenTelemetry, description and optional unit of a metric. */
export interface MetricInfo {
  readonly name: string;
  readonly description: string;
  /** Seconds. */
  readonly unit?: 's';
}

/** The series of a metric, by their attributes. */
class SeriesMap<S> extends Map<string, S> {
  find(attributes: Attributes, create: () => S): S {
    const key = Object.values(attributes).join('\n');
    let series = this.get(key);
    if (series === undefined) this.set(key, (series = create()));
    return series;
  }
}

/** Counts events; never decreases. */
export class Counter {
  readonly kind = 'counter';
  private readonly series = new SeriesMap<Sample>();

  constructor(readonly info: MetricInfo) {}

  /** Returns the series with these attributes. Callers that count often should keep it. */
  of(attributes: Attributes): Sample {
    return this.series.find(attributes, () => ({ attributes, value: 0 }));
  }

  add(count: number, attributes: Attributes): void {
    this.of(attributes).value += count;
  }

  collect(): Sample[] {
    return [...this.series.values()];
  }
}

/** A value that is read on demand. */
export class Gauge {
  readonly kind = 'gauge';

  /**
   * @param collect resolves with undefined while the value cannot be read
   * @param merge how gauges with the same name in one process, such as those of two relays, are combined
   */
  constructor(
    readonly info: MetricInfo,
    readonly collect: () => Promise<Sample[] | undefined> | Sample[],
    readonly merge: 'sum' | 'max' = 'sum',
  ) {}
}

/** Number of values in each bucket. */
export interface Distribution {
  attributes: Attributes;
  /** One count for each bound, and one for values above all bounds; not cumulative. */
  counts: number[];
  sum: number;
}

/** Upper bounds in seconds: those of the semantic conventions, and larger ones for deliveries that wait for retries. */
export const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 60, 600, 3_600];

type Listen = (value: number, attributes: Attributes) => void;

/** Distribution of the values with the same attributes. */
export class DistributionSeries implements Distribution {
  readonly counts = new Array<number>(BOUNDS.length + 1).fill(0);
  sum = 0;

  constructor(
    readonly attributes: Attributes,
    private readonly listeners: readonly Listen[],
  ) {}

  record(value: number): void {
    let index = 0;
    while (index < BOUNDS.length && value > BOUNDS[index]!) index++;
    this.counts[index]!++;
    this.sum += value;
    for (const listen of this.listeners) listen(value, this.attributes);
  }
}

/** Counts values by their size. */
export class Histogram {
  readonly kind = 'histogram';
  private readonly series = new SeriesMap<DistributionSeries>();
  /** Called with every value. */
  readonly listeners: Listen[] = [];

  constructor(readonly info: MetricInfo) {}

  /** Returns the series with these attributes. Callers that record often should keep it. */
  of(attributes: Attributes): DistributionSeries {
    return this.series.find(attributes, () => new DistributionSeries(attributes, this.listeners));
  }

  record(value: number, attributes: Attributes): void {
    this.of(attributes).record(value);
  }

  collect(): Distribution[] {
    return [...this.series.values()];
  }
}

export type Metric = Counter | Gauge | Histogram;
