import { type Attributes, BOUNDS, type Metric } from '../../common/telemetry/metric.js';
import { SearchPace } from '../queue/delivery-search.js';

/** Content type of Prometheus' text format. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Bounds of the buckets, as labels. */
const BUCKETS = [...BOUNDS.map(String), '+Inf'];

/**
 * Converts metrics to Prometheus' text format, with the names that OpenTelemetry's exporter uses: dots become
 * underscores, names in seconds get `_seconds`, and counters get `_total`. Metrics with the same name are merged.
 * Thousands of series are converted a few ms at a time, so that deliveries go on.
 */
export async function toPrometheusText(metrics: readonly Metric[]): Promise<string> {
  const families = new Map<string, { head: string; text: string }>();
  const pace = new SearchPace();
  for (const metric of metrics) {
    const name = toPrometheusName(metric);
    const head = `# HELP ${name} ${metric.info.description}\n# TYPE ${name} ${metric.kind}\n`;
    let text = families.get(name)?.text ?? '';
    for (const toText of await seriesOf(metric, name)) {
      text += toText();
      if (pace.isDue) await pace.pause();
    }
    families.set(name, { head, text });
  }
  return [...families.values()].map(({ head, text }) => head + text).join('');
}

function toPrometheusName({ kind, info: { name, unit } }: Metric): string {
  const words = [
    name.replaceAll('.', '_'),
    ...(unit === 's' ? ['seconds'] : []),
    ...(kind === 'counter' ? ['total'] : []),
  ];
  return words.join('_');
}

/** Returns functions that convert the series of a metric, each to lines. */
async function seriesOf(metric: Metric, name: string): Promise<(() => string)[]> {
  if (metric.kind !== 'histogram') {
    const samples = (await metric.collect()) ?? [];
    return samples.map(
      ({ attributes, value }) =>
        () =>
          toLine(name, toLabels(attributes), value),
    );
  }
  return metric.collect().map(({ attributes, counts, sum }) => () => {
    const labels = toLabels(attributes);
    const before = labels === '' ? '' : `${labels},`;
    let lines = '';
    let count = 0;
    for (const [index, bound] of BUCKETS.entries()) {
      count += counts[index]!;
      lines += toLine(`${name}_bucket`, `${before}le="${bound}"`, count);
    }
    return lines + toLine(`${name}_sum`, labels, sum) + toLine(`${name}_count`, labels, count);
  });
}

function toLine(name: string, labels: string, value: number): string {
  return `${name}${labels && `{${labels}}`} ${value}\n`;
}

function toLabels(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([key, text]) => `${key.replaceAll('.', '_')}="${escape(String(text))}"`)
    .join();
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
