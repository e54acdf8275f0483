import { isCancelled } from '../../client/event/context.js';
import type { ClientTelemetry, ObservedClient, SentBatch } from '../../client/telemetry/client-telemetry.interface.js';
import { processWide } from '../process-wide.util.js';
import { Counter, Gauge, type Metric } from './metric.js';
import { OperationMetrics } from './operation-metrics.js';

/** Error codes of events that are lost before ingest. */
const LOSSES = new Set([
  ...['queue_full', 'tracking_plan_violation', 'flush_timeout', 'call_after_close'],
  ...['message_too_large', 'message_unreadable'],
]);

/** Why an event is lost whose error has another code: ingest refused it by a rule, or its batch failed. */
const REJECTED = 'rejected';
const FAILED = 'delivery_failed';

/** Metrics of all clients of the process: events held, sent and lost. */
export class ClientMetrics {
  private readonly clients = new Set<WeakRef<ObservedClient>>();
  private readonly followed = new WeakSet<ObservedClient>();
  private readonly sending = new OperationMetrics('send');
  private readonly dropped = new Counter({
    name: 'analytics_relay.client.events.dropped',
    description: 'Events lost before ingest, by reason',
  });
  private readonly cancelled = new Counter({
    name: 'analytics_relay.client.events.cancelled',
    description: 'Events cancelled by beforeSend or a plugin',
  });

  readonly all: readonly Metric[] = [
    ...this.sending.all,
    this.dropped,
    this.cancelled,
    new Gauge(
      {
        name: 'analytics_relay.client.queue.count',
        description: 'Events pending in clients',
      },
      () => [{ attributes: {}, value: this.countPending() }],
    ),
  ];

  constructor() {
    // From the start, so that Prometheus sees the first loss as an increase.
    for (const reason of [...LOSSES, REJECTED, FAILED]) this.dropped.of({ reason });
    this.cancelled.of({});
  }

  /** Returns the metrics of the process: an application may have several clients. */
  static ofProcess(): ClientMetrics {
    return processWide('client-metrics', () => new ClientMetrics());
  }

  /**
   * Starts counting a client's queue, losses and batches. A client is counted only once, even if its telemetry asks for
   * it as well.
   *
   * @param telemetry the client's own telemetry, which still receives every call
   * @param source name of the source, for batches without one
   * @returns the telemetry to use for the client
   */
  follow(client: ObservedClient, telemetry?: ClientTelemetry, source?: string): ClientTelemetry {
    if (telemetry && this.followed.has(client)) return telemetry;
    this.followed.add(client);
    this.clients.add(new WeakRef(client));
    client.on('error', ({ code, reason, ctx }) => {
      if (code === 'delivery_failure' && !isCancelled(ctx, reason)) this.drop(reason);
    });
    client.on('cancelled', () => this.cancelled.add(1, {}));
    client.on('call_after_close', () => this.drop({ code: 'call_after_close' }));
    return {
      create: telemetry?.create && ((type, source) => telemetry.create!(type, source)),
      send: (batch, send) => this.send(batch, telemetry ? () => telemetry.send(batch, send) : send, source),
    };
  }

  drop(error: unknown): void {
    this.dropped.add(1, { reason: reasonOf(error) });
  }

  private async send(batch: SentBatch, send: () => Promise<unknown>, source = 'analytics'): Promise<unknown> {
    const end = this.sending.begin();
    const reason = await send();
    end(batch.source ?? source, batch.count, reason);
    return reason;
  }

  private countPending(): number {
    let count = 0;
    for (const reference of this.clients) {
      const client = reference.deref();
      if (client) count += client.pendingCount;
      else this.clients.delete(reference);
    }
    return count;
  }
}

function reasonOf(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  if (typeof code === 'string' && LOSSES.has(code)) return code;
  return name === 'ValidationError' ? REJECTED : FAILED;
}
