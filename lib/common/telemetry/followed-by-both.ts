import type { RelayTelemetry } from './telemetry.interface.js';

/** What passes all on to figures, and to spans, whose traces the requests have. */
export function followedByBoth(figures: RelayTelemetry, spans: RelayTelemetry | undefined): RelayTelemetry {
  if (!spans) return figures;
  return {
    enqueue: (deliveries, add) => figures.enqueue(deliveries, () => spans.enqueue(deliveries, add)),
    attempt: (delivery) => {
      const attempts = [figures.attempt(delivery), spans.attempt(delivery)];
      return {
        request: (target) => {
          const requests = attempts.map((attempt) => attempt.request(target));
          return {
            trace: requests[1]?.trace,
            end: (status, error) => requests.forEach((request) => request?.end(status, error)),
          };
        },
        end: (state) => attempts.forEach((attempt) => attempt.end(state)),
      };
    },
  };
}
