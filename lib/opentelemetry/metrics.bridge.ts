import { type Meter, metrics as api, type MeterProvider } from '@opentelemetry/api';

import { VERSION } from '../client/version.js';
import { processWide } from '../common/process-wide.util.js';
import { BOUNDS, type Counter, type Gauge, type Metric, type Sample } from '../common/telemetry/metric.js';

const NAME = 'nestjs-analytics-relay';

/** A metric that is read. */
type Read = Counter | Gauge;

/**
 * Has the meter of one provider read metrics, and record each value of the histograms. Metrics of one name share an
 * instrument, however many clients and relays they are of: of several instruments, the SDK would keep the last value alone.
 */
class MetricsBridge {
  private readonly known = new Set<Metric>();
  private readonly read = new Map<string, Read[]>();

  constructor(private readonly meter: Meter) {}

  add(metric: Metric): void {
    if (this.known.has(metric)) return;
    this.known.add(metric);
    const { name, description, unit } = metric.info;
    const options = { description, ...(unit && { unit }) };
    if (metric.kind === 'histogram') {
      const histogram = this.meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: BOUNDS } });
      metric.listeners.push((value, attributes) => histogram.record(value, attributes));
      return;
    }
    const others = this.read.get(name);
    if (others) {
      others.push(metric);
      return;
    }
    const all = [metric];
    this.read.set(name, all);
    const instrument =
      metric.kind === 'counter'
        ? this.meter.createObservableCounter(name, options)
        : this.meter.createObservableGauge(name, options);
    instrument.addCallback(async (result) => {
      for (const { attributes, value } of await collect(all)) result.observe(value, attributes);
    });
  }
}

/** Bridges the metrics to a provider: the global one, unless another is given. */
export function bridge(metrics: readonly Metric[], provider: MeterProvider = api.getMeterProvider()): void {
  const bridges = processWide('metrics-bridges', () => new WeakMap<MeterProvider, MetricsBridge>());
  let found = bridges.get(provider);
  if (!found) bridges.set(provider, (found = new MetricsBridge(provider.getMeter(NAME, VERSION))));
  for (const metric of metrics) found.add(metric);
}

async function collect(metrics: readonly Read[]): Promise<Iterable<Sample>> {
  const merged = new Map<string, Sample>();
  for (const metric of metrics) {
    const isSum = metric.kind === 'counter' || metric.merge === 'sum';
    for (const { attributes, value } of await metric.collect()) {
      const key = JSON.stringify(attributes);
      const other = merged.get(key)?.value;
      const together = other === undefined ? value : isSum ? other + value : Math.max(other, value);
      merged.set(key, { attributes, value: together });
    }
  }
  return merged.values();
}
