import { foundOnce } from '../found-once.util.js';
import { BoundedNames } from './bounded.names.js';
import { errorTypeOf, SYSTEM } from './attributes.util.js';
import { Counter, endOf, Histogram, type Metric } from './metric.js';

/** Metrics of messages that clients send, or that ingest queues. */
export class OperationMetrics {
  private readonly sent = new Counter({
    name: 'messaging.client.sent.messages',
    description: 'Messages sent or queued, by operation, destination and error',
    unit: '{message}',
  });
  private readonly duration = new Histogram({
    name: 'messaging.client.operation.duration',
    description: 'Time to send or queue messages',
    unit: 's',
  });

  private readonly errorsOf = foundOnce((_destination: string) => BoundedNames.ofResults());

  readonly all: readonly Metric[] = [this.sent, this.duration];

  constructor(private readonly operation: 'send' | 'enqueue') {}

  /** Ends the series of destinations. */
  end(names: ReadonlySet<string>): void {
    endOf([this.sent, this.duration], names);
    for (const name of names) this.errorsOf.forget(name);
  }

  /** @returns ends the measurement for a destination; `error` is why the messages were not accepted, if they were not */
  begin(): (destination: string, count: number, error?: unknown) => void {
    const start = performance.now();
    return (destination, count, error) => {
      const attributes = {
        'messaging.system': SYSTEM,
        'messaging.operation.name': this.operation,
        'messaging.destination.name': destination,
        ...(error !== undefined && {
          'error.type': this.errorsOf(destination).valueOf(errorTypeOf(undefined, error)!),
        }),
      };
      this.sent.add(count, attributes);
      this.duration.of(attributes).record((performance.now() - start) / 1_000);
    };
  }
}
