/** Attributes of a series, by their names in OpenTelemetry, such as `error.type`. */
export type Attributes = Readonly<Record<string, string | number>>;

/** One value of a metric. */
export interface Sample {
  attributes: Attributes;
  value: number;
}

/** Name in OpenTelemetry, description and optional unit of a metric. */
interface MetricInfo {
  readonly name: string;
  readonly description: string;
  /** Seconds, or a countable item, as the semantic conventions write it. */
  readonly unit?: 's' | '{message}';
}

/** A metric with a series for each combination of attributes. */
abstract class SeriesMetric<S extends { readonly attributes: Attributes }> {
  private readonly series = new Map<string, S>();

  constructor(readonly info: MetricInfo) {}

  /** Returns the series with these attributes. Callers that update it often should keep it. */
  of(attributes: Attributes): S {
    const key = Object.values(attributes).join('\n');
    let series = this.series.get(key);
    if (series === undefined) this.series.set(key, (series = this.create(attributes)));
    return series;
  }

  /** Ends series; later ones with the same attributes begin at 0. */
  end(isEnded: (attributes: Attributes) => boolean): void {
    for (const [key, { attributes }] of this.series) if (isEnded(attributes)) this.series.delete(key);
  }

  collect(): S[] {
    return [...this.series.values()];
  }

  protected abstract create(attributes: Attributes): S;
}

/** Counts events; never decreases. */
export class Counter extends SeriesMetric<Sample> {
  readonly kind = 'counter';

  add(count: number, attributes: Attributes): void {
    this.of(attributes).value += count;
  }

  protected create(attributes: Attributes): Sample {
    return { attributes, value: 0 };
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

/** Upper bounds in seconds: those of the semantic conventions, and larger ones for deliveries that wait for retries. */
export const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 60, 600, 3_600];

type Listen = (value: number, attributes: Attributes) => void;

/** Distribution of the values with the same attributes. */
class Distribution {
  /** One count for each bound, and one for values above all bounds; not cumulative. */
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
export class Histogram extends SeriesMetric<Distribution> {
  readonly kind = 'histogram';
  /** Called with every value. */
  readonly listeners: Listen[] = [];

  protected create(attributes: Attributes): Distribution {
    return new Distribution(attributes, this.listeners);
  }
}

export type Metric = Counter | Gauge | Histogram;

/** Ends the series of destinations. */
export function endOf(metrics: readonly (Counter | Histogram)[], destinations: ReadonlySet<string>): void {
  const isEnded = ({ destination, 'messaging.destination.name': name = destination }: Attributes) =>
    destinations.has(String(name));
  for (const metric of metrics) metric.end(isEnded);
}
