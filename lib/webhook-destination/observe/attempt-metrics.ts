import { foundOnce } from '../../common/found-once.util.js';
import { BoundedNames } from '../../common/telemetry/bounded.names.js';
import { errorTypeOf, OTHER_ERROR, serverOf, SYSTEM } from '../../common/telemetry/attributes.util.js';
import { type Attributes, Counter, endOf, Histogram, type Metric } from '../../common/telemetry/metric.js';
import type { AttemptedDelivery, AttemptSpan, RequestTarget } from '../../common/telemetry/telemetry.interface.js';

/** States of a delivery after an attempt. */
const OUTCOMES = ['delivered', 'waiting', 'dead'];

/** Metrics of attempts and their requests. Passes each call on to the spans, if there are any. */
export class AttemptMetrics {
  private readonly consumed = new Counter({
    name: 'messaging.client.consumed.messages',
    description: 'Delivery attempts started, by destination',
    unit: '{message}',
  });
  private readonly process = new Histogram({
    name: 'messaging.process.duration',
    description: 'Duration of delivery attempts',
    unit: 's',
  });
  private readonly request = new Histogram({
    name: 'http.client.request.duration',
    description: 'Duration of requests to receivers',
    unit: 's',
  });
  private readonly latency = new Histogram({
    name: 'analytics_relay.delivery.latency',
    description: 'Time from accepting a message to delivering it',
    unit: 's',
  });
  private readonly attempts = new Counter({
    name: 'analytics_relay.delivery.attempts',
    description: 'Delivery attempts finished, by destination and outcome',
  });

  readonly all: readonly Metric[] = [this.consumed, this.process, this.request, this.latency, this.attempts];

  // Each attempt updates five series, and finding a series by its attributes costs more than counting.
  private readonly seriesOf = foundOnce((name: string) => {
    const errors = BoundedNames.ofResults();
    return {
      consumed: this.consumed.of(ofDestination(name)),
      succeeded: this.process.of(ofDestination(name)),
      failed: (errorType: string) =>
        this.process.of({ ...ofDestination(name), 'error.type': errors.valueOf(errorType) }),
      latency: this.latency.of({ destination: name }),
      // All from the first attempt, so that Prometheus sees the first of an outcome as an increase.
      outcomes: new Map(OUTCOMES.map((outcome) => [outcome, this.attempts.of({ destination: name, outcome })])),
    };
  });
  private readonly requestsTo = foundOnce((server: string) => ({
    server,
    results: BoundedNames.ofResults(),
    answered: foundOnce((status: number) => this.request.of(attributesOf(server, status, errorTypeOf(status)))),
  }));
  private readonly requestsOf = foundOnce(({ shown }: RequestTarget) => {
    const { address, port } = serverOf(shown);
    return this.requestsTo(this.servers.valueOf(`${address}:${port}`));
  }, new WeakMap());

  /** @param now the time by the queue's clock, in ms since the epoch */
  constructor(
    private readonly servers: BoundedNames,
    private readonly now: () => number,
  ) {}

  /** Ends the series of destinations. */
  end(names: ReadonlySet<string>): void {
    endOf([this.consumed, this.process, this.latency, this.attempts], names);
    for (const name of names) this.seriesOf.forget(name);
  }

  /** @param nameOf returns the value of the destination in attributes, which may be another one at the end */
  begin({ acceptedAt }: AttemptedDelivery, nameOf: () => string, span: AttemptSpan | undefined): AttemptSpan {
    this.seriesOf(nameOf()).consumed.value++;
    const start = performance.now();
    let errorType: string | undefined; // of the last request; undefined if it succeeded
    return {
      request: (target) => {
        const start = performance.now();
        const request = span?.request(target);
        return {
          get trace() {
            return request?.trace;
          },
          end: (status, error) => {
            errorType = errorTypeOf(status, error);
            this.answer(target, performance.now() - start, status, errorType);
            request?.end(status, error);
          },
        };
      },
      end: (state) => {
        const duration = (performance.now() - start) / 1_000;
        const { outcomes, succeeded, failed, latency } = this.seriesOf(nameOf());
        outcomes.get(state)!.value++;
        if (state === 'delivered') {
          succeeded.record(duration);
          latency.record(Math.max(this.now() - acceptedAt, 0) / 1_000);
        } else failed(errorType ?? OTHER_ERROR).record(duration);
        span?.end(state);
      },
    };
  }

  /** @param duration in ms */
  private answer(target: RequestTarget, duration: number, status: number | undefined, errorType?: string): void {
    const { server, results, answered } = this.requestsOf(target);
    const result = results.valueOf(String(status ?? errorType));
    const series =
      status === undefined || result === OTHER_ERROR
        ? this.request.of(attributesOf(server, undefined, errorType && result))
        : answered(status);
    series.record(duration / 1_000);
  }
}

function ofDestination(name: string): Attributes {
  return {
    'messaging.system': SYSTEM,
    'messaging.operation.name': 'process',
    'messaging.destination.name': name,
  };
}

/** @param server host and port, or a name without port that stands for many */
function attributesOf(server: string, status: number | undefined, errorType: string | undefined): Attributes {
  const [, address = server, port] = /^(.*):(\d+)$/.exec(server) ?? [];
  return {
    'http.request.method': 'POST',
    'server.address': address,
    ...(port !== undefined && { 'server.port': Number(port) }),
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...(errorType !== undefined && { 'error.type': errorType }),
  };
}
