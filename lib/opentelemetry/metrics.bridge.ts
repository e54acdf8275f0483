import { type Meter, metrics as api, type MeterProvider } from '@opentelemetry/api';

import { VERSION } from '../client/version.js';
import { processWide } from '../common/process-wide.util.js';
import { BOUNDS, Counter, type Gauge, type Histogram, type Metric, type Sample } from '../common/telemetry/metric.js';
import { FaultReporter } from './fault.reporter.js';

/** Name of the instrumentation scope of all spans and metrics. */
export const SCOPE = 'nestjs-analytics-relay';

/** A metric whose values are read on demand. */
type Read = Counter | Gauge;

/** Merges the metrics with one name: the SDK would keep only the last value of several instruments with that name. */
class SharedMetric {
  readonly metrics = new Set<Read>();
  /** Totals of removed counters, because a sum must not decrease. */
  private readonly ended = new Counter({ name: '', description: '' });
  private last: ReadonlyMap<string, Sample> = new Map();

  remove(metric: Read): void {
    this.metrics.delete(metric);
    if (metric.kind !== 'counter') return;
    for (const { attributes, value } of metric.collect()) this.ended.add(value, attributes);
  }

  /**
   * Returns the merged samples. A series that has ended is reported as 0 once: the SDK would keep reporting its last
   * value.
   */
  async collect(): Promise<Sample[]> {
    const merged = new Map<string, Sample>();
    let isComplete = true;
    for (const metric of [this.ended, ...this.metrics]) {
      const isSum = metric.kind === 'counter' || metric.merge === 'sum';
      const samples = await metric.collect();
      isComplete &&= samples !== undefined;
      for (const { attributes, value } of samples ?? []) {
        const key = JSON.stringify(attributes);
        const other = merged.get(key)?.value;
        const together = other === undefined ? value : isSum ? other + value : Math.max(other, value);
        merged.set(key, { attributes, value: together });
      }
    }
    const gone = isComplete ? [...this.last].filter(([key]) => !merged.has(key)) : [];
    this.last = isComplete ? merged : new Map([...this.last, ...merged]);
    return [...merged.values(), ...gone.map(([, { attributes }]) => ({ attributes, value: 0 }))];
  }
}

/** Connects metrics to the meter of one provider, which reads counters and gauges and records each histogram value. */
class MetricsBridge {
  /** Functions that disconnect each metric. */
  private readonly ends = new Map<Metric, () => void>();
  private readonly shared = new Map<string, SharedMetric>();
  private readonly faults = new FaultReporter();

  constructor(private readonly meter: Meter) {}

  /** @returns false if the metric is connected already */
  add(metric: Metric): boolean {
    if (this.ends.has(metric)) return false;
    this.ends.set(metric, metric.kind === 'histogram' ? this.record(metric) : this.read(metric));
    return true;
  }

  remove(metric: Metric): void {
    this.ends.get(metric)?.();
    this.ends.delete(metric);
  }

  private record({ info: { name, description, unit }, listeners }: Histogram): () => void {
    const histogram = this.meter.createHistogram(name, {
      description,
      ...(unit && { unit }),
      advice: { explicitBucketBoundaries: BOUNDS },
    });
    const listen: Histogram['listeners'][number] = (value, attributes) => {
      try {
        histogram.record(value, attributes);
      } catch (error) {
        this.faults.report(error); // a view of the application threw it
      }
    };
    listeners.push(listen);
    return () => void listeners.splice(listeners.indexOf(listen), 1);
  }

  private read(metric: Read): () => void {
    const { name } = metric.info;
    let shared = this.shared.get(name);
    if (!shared) this.shared.set(name, (shared = this.share(metric)));
    shared.metrics.add(metric);
    return () => shared.remove(metric);
  }

  private share({ kind, info: { name, description, unit } }: Read): SharedMetric {
    const shared = new SharedMetric();
    const options = { description, ...(unit && { unit }) };
    const instrument =
      kind === 'counter'
        ? this.meter.createObservableCounter(name, options)
        : this.meter.createObservableGauge(name, options);
    instrument.addCallback(async (result) => {
      for (const { attributes, value } of await shared.collect()) result.observe(value, attributes);
    });
    return shared;
  }
}

/**
 * Connects metrics to a provider, by default the global one.
 *
 * @returns a function that disconnects the metrics that this call connected
 */
export function bridge(metrics: readonly Metric[], provider: MeterProvider = api.getMeterProvider()): () => void {
  const bridges = processWide('metrics-bridges', () => new WeakMap<MeterProvider, MetricsBridge>());
  let found = bridges.get(provider);
  if (!found) bridges.set(provider, (found = new MetricsBridge(provider.getMeter(SCOPE, VERSION))));
  const added = metrics.filter((metric) => found.add(metric));
  return () => added.forEach((metric) => found.remove(metric));
}
