/** Values of a series' attributes, by their names in OpenTelemetry, such as `error.type`. */
export type Attributes = Readonly<Record<string, string>>;

/** One value of a metric. */
export interface Sample {
  attributes: Attributes;
  value: number;
}

/** What is measured: its name as OpenTelemetry has it, its unit where it has one, and a sentence. */
export interface MetricInfo {
  readonly name: string;
  readonly description: string;
  /** Seconds. */
  readonly unit?: 's';
}

/** Counts events; it never goes back. */
export class Counter {
  readonly kind = 'counter';
  private readonly series = new Map<string, Sample>();

  constructor(readonly info: MetricInfo) {}

  add(count: number, attributes: Attributes): void {
    const key = Object.values(attributes).join('\n');
    const sample = this.series.get(key);
    if (sample) sample.value += count;
    else this.series.set(key, { attributes, value: count });
  }

  collect(): Sample[] {
    return [...this.series.values()];
  }
}

/** Is read when somebody asks for it. */
export class Gauge {
  readonly kind = 'gauge';

  /**
   * @param collect resolves with undefined while it cannot be read
   * @param merge what several of this name in one process make together, such as those of two relays
   */
  constructor(
    readonly info: MetricInfo,
    readonly collect: () => Promise<Sample[] | undefined> | Sample[],
    readonly merge: 'sum' | 'max' = 'sum',
  ) {}
}

/** How many values were at most as large as each bound. */
export interface Distribution {
  attributes: Attributes;
  /** One for each of the bounds, and one for what is above all of them; each without those below it. */
  counts: number[];
  sum: number;
}

/** Upper bounds in seconds: those of the semantic conventions, and some for what waits for retries. */
export const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 60, 600, 3_600];

/** Counts values by their size. */
export class Histogram {
  readonly kind = 'histogram';
  private readonly series = new Map<string, Distribution>();
  /** Each also gets every value. */
  readonly listeners: ((value: number, attributes: Attributes) => void)[] = [];

  constructor(readonly info: MetricInfo) {}

  record(value: number, attributes: Attributes): void {
    const key = Object.values(attributes).join('\n');
    let found = this.series.get(key);
    if (!found) {
      found = { attributes, counts: new Array<number>(BOUNDS.length + 1).fill(0), sum: 0 };
      this.series.set(key, found);
    }
    let index = 0;
    while (index < BOUNDS.length && value > BOUNDS[index]!) index++;
    found.counts[index]!++;
    found.sum += value;
    for (const listen of this.listeners) listen(value, attributes);
  }

  collect(): Distribution[] {
    return [...this.series.values()];
  }
}

export type Metric = Counter | Gauge | Histogram;
