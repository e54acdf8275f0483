import { type Attributes, BOUNDS, type Metric } from '../../common/telemetry/metric.js';

/** Content type of Prometheus' text format. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Converts metrics to Prometheus' text format, with the names that OpenTelemetry's exporter uses: dots become
 * underscores, names in seconds get `_seconds`, and counters get `_total`. Metrics with the same name are merged.
 */
export async function toPrometheusText(metrics: readonly Metric[]): Promise<string> {
  const families = new Map<string, { head: string; lines: string[] }>();
  for (const metric of metrics) {
    const name = toPrometheusName(metric);
    const head = `# HELP ${name} ${metric.info.description}\n# TYPE ${name} ${metric.kind}\n`;
    const lines = families.get(name)?.lines ?? [];
    families.set(name, { head, lines });
    lines.push(...(await linesOf(metric, name)));
  }
  return [...families.values()].map(({ head, lines }) => head + lines.join('')).join('');
}

function toPrometheusName({ kind, info: { name, unit } }: Metric): string {
  const words = [
    name.replaceAll('.', '_'),
    ...(unit === 's' ? ['seconds'] : []),
    ...(kind === 'counter' ? ['total'] : []),
  ];
  return words.join('_');
}

async function linesOf(metric: Metric, name: string): Promise<string[]> {
  if (metric.kind !== 'histogram') {
    const samples = (await metric.collect()) ?? [];
    return samples.map(({ attributes, value }) => toLine(name, attributes, value));
  }
  return metric.collect().flatMap(({ attributes, counts, sum }) => {
    let count = 0;
    const buckets = counts.map((added, index) => {
      count += added;
      return toLine(
        `${name}_bucket`,
        { ...attributes, le: index < BOUNDS.length ? `${BOUNDS[index]}` : '+Inf' },
        count,
      );
    });
    return [...buckets, toLine(`${name}_sum`, attributes, sum), toLine(`${name}_count`, attributes, count)];
  });
}

function toLine(name: string, attributes: Attributes, value: number): string {
  const labels = Object.entries(attributes).map(
    ([key, text]) => `${key.replaceAll('.', '_')}="${escape(String(text))}"`,
  );
  return `${name}${labels.length > 0 ? `{${labels.join(',')}}` : ''} ${value}\n`;
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
