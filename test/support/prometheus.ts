import parse from 'parse-prometheus-text-format';

/** A series of a Prometheus text, as a parser of others reads it. */
export interface PrometheusFamily {
  name: string;
  type: string;
  metrics: { labels?: Record<string, string>; value: string }[];
}

/** Fetches the metrics of an application. */
export async function fetchMetrics(host: string, token: string): Promise<string> {
  const answer = await fetch(`${host}/relay/api/metrics`, { headers: { Authorization: `Bearer ${token}` } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return text;
}

/** Fetches and reads the metrics of an application. */
export async function readMetrics(host: string, token: string): Promise<PrometheusFamily[]> {
  return parseMetrics(await fetchMetrics(host, token));
}

export function parseMetrics(raw: string): PrometheusFamily[] {
  // The parser makes one histogram of all series; as families of their own it reads their lines like any others.
  const text = raw.replace(/^# (TYPE .* histogram|HELP .*_seconds .*)\n/gm, '');
  return parse(text) as PrometheusFamily[];
}

/** The sum of a family's values, of the series that have these labels. */
export function sumOf(families: PrometheusFamily[], name: string, labels: Record<string, string> = {}): number {
  return families
    .filter((family) => family.name === name)
    .flatMap(({ metrics }) => metrics)
    .filter((metric) => Object.entries(labels).every(([key, value]) => metric.labels?.[key] === value))
    .reduce((sum, { value }) => sum + Number(value), 0);
}
