import { type Meter, metrics as api, type MeterProvider } from '@opentelemetry/api';

import { VERSION } from '../client/version.js';
import { BOUNDS, type Metric } from '../common/telemetry/metric.js';

const NAME = 'nestjs-analytics-relay';

/** Has a meter read the metrics, and record each value of the histograms. */
export function bridge(metrics: readonly Metric[], provider: MeterProvider | undefined): void {
  const meter = (provider ?? api).getMeter(NAME, VERSION);
  for (const metric of metrics) observe(meter, metric);
}

function observe(meter: Meter, metric: Metric): void {
  const { name, description, unit } = metric.info;
  const options = { description, ...(unit && { unit }) };
  if (metric.kind === 'histogram') {
    const histogram = meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: BOUNDS } });
    metric.listener = (value, attributes) => histogram.record(value, attributes);
    return;
  }
  const instrument =
    metric.kind === 'counter'
      ? meter.createObservableCounter(name, options)
      : meter.createObservableGauge(name, options);
  instrument.addCallback(async (result) => {
    for (const { attributes, value } of await metric.collect()) result.observe(value, attributes);
  });
}
