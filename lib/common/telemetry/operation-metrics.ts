import { errorTypeOf } from './error-type.util.js';
import { Counter, Histogram, type Metric } from './metric.js';

/** Figures of messages on their way into a queue: clients send them, and ingest queues them. */
export class OperationMetrics {
  private readonly sent = new Counter({
    name: 'messaging.client.sent.messages',
    description: 'Messages sent or queued, by operation, destination and error',
  });
  private readonly duration = new Histogram({
    name: 'messaging.client.operation.duration',
    description: 'Time taken to send or queue messages',
    unit: 's',
  });

  readonly all: readonly Metric[] = [this.sent, this.duration];

  constructor(private readonly operation: 'send' | 'enqueue') {}

  /**
   * Starts to measure; the function that it returns counts messages to a destination.
   *
   * @returns takes why they were not taken, or undefined where they were
   */
  begin(): (destination: string, count: number, error?: unknown) => void {
    const start = performance.now();
    return (destination, count, error) => {
      const attributes = {
        'messaging.operation.name': this.operation,
        'messaging.destination.name': destination,
        ...(error !== undefined && { 'error.type': errorTypeOf(undefined, error)! }),
      };
      this.sent.add(count, attributes);
      this.duration.record((performance.now() - start) / 1_000, attributes);
    };
  }
}
