import type { ClientTelemetry, SentBatch } from '../../client/telemetry/client-telemetry.interface.js';
import { processWide } from '../process-wide.util.js';
import { errorTypeOf } from './error-type.util.js';
import { Counter, Gauge, Histogram, type Metric } from './metric.js';

/** Why events are lost before ingest, by the codes of their errors; all other errors are of a batch that failed. */
const LOSSES = new Set([
  ...['queue_full', 'tracking_plan_violation', 'flush_timeout', 'call_after_close'],
  ...['message_too_large', 'event_cancelled'],
]);

/** Figures of all clients of the process: what they hold, send and lose. */
export class ClientMetrics {
  private readonly clients = new Set<{ readonly pendingCount: number }>();
  private readonly sent = new Counter({
    name: 'messaging.client.sent.messages',
    description: 'Messages that were sent or queued, by operation, destination and error',
  });
  private readonly duration = new Histogram({
    name: 'messaging.client.operation.duration',
    description: 'How long it took to send or queue messages',
    unit: 's',
  });
  private readonly dropped = new Counter({
    name: 'analytics_relay.client.events.dropped',
    description: 'Events that were lost before ingest, by reason',
  });

  readonly all: readonly Metric[] = [
    this.sent,
    this.duration,
    this.dropped,
    new Gauge(
      {
        name: 'analytics_relay.client.queue.count',
        description: 'Events that clients hold, and that have no outcome yet',
      },
      () => [{ attributes: {}, value: [...this.clients].reduce((sum, { pendingCount }) => sum + pendingCount, 0) }],
    ),
  ];

  /** Those of the process: an application may have several clients. */
  static ofProcess(): ClientMetrics {
    return processWide('client-metrics', () => new ClientMetrics());
  }

  /** Counts a client's queue from now on. */
  add(client: { readonly pendingCount: number }): void {
    this.clients.add(client);
  }

  /** What it has counted stays. */
  remove(client: { readonly pendingCount: number }): void {
    this.clients.delete(client);
  }

  drop(error: unknown): void {
    const { code } = (error ?? {}) as { code?: unknown };
    this.dropped.add(1, { reason: LOSSES.has(code as string) ? (code as string) : 'delivery_failed' });
  }

  /** What passes on to a client's own telemetry, and measures its batches. */
  with(telemetry: ClientTelemetry | undefined): ClientTelemetry {
    return {
      create: telemetry?.create && ((type) => telemetry.create!(type)),
      send: (batch, send) => this.send(batch, telemetry ? () => telemetry.send(batch, send) : send),
    };
  }

  /** Measures the sending of a batch. */
  async send({ source = 'analytics', count }: SentBatch, send: () => Promise<unknown>): Promise<unknown> {
    const start = performance.now();
    const reason = await send();
    const attributes = {
      'messaging.operation.name': 'send',
      'messaging.destination.name': source,
      ...(reason !== undefined && { 'error.type': errorTypeOf(undefined, reason)! }),
    };
    this.sent.add(count, attributes);
    this.duration.record((performance.now() - start) / 1_000, attributes);
    return reason;
  }
}
