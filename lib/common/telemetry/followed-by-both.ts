import type { AttemptSpan, RelayTelemetry, RequestSpan, RequestTarget } from './telemetry.interface.js';

/** Forwards every call to metrics and to spans. Requests carry the traces of the spans. */
export function followedByBoth(figures: RelayTelemetry, spans: RelayTelemetry | undefined): RelayTelemetry {
  if (!spans) return figures;
  return {
    enqueue: (deliveries, add) => figures.enqueue(deliveries, () => spans.enqueue(deliveries, add)),
    attempt: (delivery) => new AttemptOfBoth(figures.attempt(delivery), spans.attempt(delivery)),
  };
}

class AttemptOfBoth implements AttemptSpan {
  constructor(
    private readonly figures: AttemptSpan,
    private readonly span: AttemptSpan,
  ) {}

  request(target: RequestTarget): RequestSpan {
    return new RequestOfBoth(this.figures.request(target), this.span.request(target));
  }

  end(state: string): void {
    this.figures.end(state);
    this.span.end(state);
  }
}

class RequestOfBoth implements RequestSpan {
  constructor(
    private readonly figures: RequestSpan | undefined,
    private readonly span: RequestSpan | undefined,
  ) {}

  get trace(): RequestSpan['trace'] {
    return this.span?.trace;
  }

  end(status: number | undefined, error?: unknown): void {
    this.figures?.end(status, error);
    this.span?.end(status, error);
  }
}
