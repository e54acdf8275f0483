import { expect, it } from 'vitest';

import { Counter, Histogram } from '../../../lib/common/telemetry/metric.js';
import { toPrometheusText } from '../../../lib/webhook-destination/observe/prometheus.text.js';

it('Metrics of thousands of series are converted in slices, between which the event loop does other work', async () => {
  const counter = new Counter({ name: 'things.count', description: 'Things' });
  const histogram = new Histogram({ name: 'things.duration', description: 'Durations', unit: 's' });
  for (let index = 0; index < 20_000; index++) {
    counter.add(1, { destination: `"${index}"` });
    histogram.of({ destination: `d${index}` }).record(0.02);
  }
  let turns = 0;
  let isDone = false;
  const countTurns = () => {
    turns++;
    if (!isDone) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const text = await toPrometheusText([counter, histogram]);
  isDone = true;
  expect(turns).toBeGreaterThan(5);
  const lines = text.split('\n');
  expect(lines).toContain('things_count_total{destination="\\"7\\""} 1');
  expect(lines.filter((line) => line.startsWith('things_duration_seconds') && line.includes('"d7"'))).toEqual([
    ...['0.005', '0.01'].map((bound) => `things_duration_seconds_bucket{destination="d7",le="${bound}"} 0`),
    ...[
      '0.025',
      '0.05',
      '0.075',
      '0.1',
      '0.25',
      '0.5',
      '0.75',
      '1',
      '2.5',
      '5',
      '7.5',
      '10',
      '60',
      '600',
      '3600',
      '+Inf',
    ].map((bound) => `things_duration_seconds_bucket{destination="d7",le="${bound}"} 1`),
    'things_duration_seconds_sum{destination="d7"} 0.02',
    'things_duration_seconds_count{destination="d7"} 1',
  ]);
});
