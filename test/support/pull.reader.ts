import { type MetricData, MetricReader } from '@opentelemetry/sdk-metrics';

/** Collects the metrics of a provider when it is asked to. */
export class PullReader extends MetricReader {
  protected override onForceFlush = () => Promise.resolve();
  protected override onShutdown = () => Promise.resolve();

  /** @throws {Error} that a metric could not be read with */
  async read(): Promise<MetricData[]> {
    const { resourceMetrics, errors } = await this.collect();
    if (errors.length > 0) throw errors[0];
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  }
}
