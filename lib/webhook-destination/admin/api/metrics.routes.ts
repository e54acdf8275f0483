import type { Metric } from '../../../common/telemetry/metric.js';
import { PROMETHEUS_TYPE, toPrometheusText } from '../../observe/prometheus.text.js';
import { type ApiRoute, readRoute } from './api.route.js';

/** Route of the metrics, in the text format of Prometheus. */
export function metricsRoute(metrics: readonly Metric[]): ApiRoute {
  return readRoute('metrics', 'Figures of recording, ingest and delivery, as Prometheus text', async ({ response }) => {
    const text = await toPrometheusText(metrics);
    const headers = { 'Content-Type': PROMETHEUS_TYPE, 'Content-Length': Buffer.byteLength(text) };
    response.writeHead(200, headers).end(text);
    return undefined;
  });
}
