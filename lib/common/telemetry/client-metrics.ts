import type { ClientTelemetry, ObservedClient, SentBatch } from '../../client/telemetry/client-telemetry.interface.js';
import { processWide } from '../process-wide.util.js';
import { Counter, Gauge, type Metric } from './metric.js';
import { OperationMetrics } from './operation-metrics.js';

/** Why events are lost before ingest, by the codes of their errors; all other errors are of a batch that failed. */
const LOSSES = new Set([
  ...['queue_full', 'tracking_plan_violation', 'flush_timeout', 'call_after_close'],
  ...['message_too_large', 'event_cancelled'],
]);

/** Figures of all clients of the process: what they hold, send and lose. */
export class ClientMetrics {
  private readonly clients = new Set<WeakRef<ObservedClient>>();
  private readonly followed = new WeakSet<ObservedClient>();
  private readonly sending = new OperationMetrics('send');
  private readonly dropped = new Counter({
    name: 'analytics_relay.client.events.dropped',
    description: 'Events lost before ingest, by reason',
  });

  readonly all: readonly Metric[] = [
    ...this.sending.all,
    this.dropped,
    new Gauge(
      {
        name: 'analytics_relay.client.queue.count',
        description: 'Events held by clients, without an outcome yet',
      },
      () => [{ attributes: {}, value: this.countPending() }],
    ),
  ];

  /** Those of the process: an application may have several clients. */
  static ofProcess(): ClientMetrics {
    return processWide('client-metrics', () => new ClientMetrics());
  }

  /**
   * Counts a client's queue, losses and batches from now on. A client that is followed already is not counted twice:
   * its telemetry may have asked for it as well.
   *
   * @param telemetry that of the client, which all is passed on to
   * @param source name of its source, where a batch has none
   * @returns what observes the client
   */
  follow(client: ObservedClient, telemetry?: ClientTelemetry, source?: string): ClientTelemetry {
    if (telemetry && this.followed.has(client)) return telemetry;
    this.followed.add(client);
    this.clients.add(new WeakRef(client));
    client.on('error', ({ code, reason }) => code === 'delivery_failure' && this.drop(reason));
    client.on('call_after_close', () => this.drop({ code: 'call_after_close' }));
    return {
      create: telemetry?.create && ((type) => telemetry.create!(type)),
      send: (batch, send) => this.send(batch, telemetry ? () => telemetry.send(batch, send) : send, source),
    };
  }

  /** Counts an event that is lost for this reason. */
  drop(error: unknown): void {
    const { code } = (error ?? {}) as { code?: unknown };
    this.dropped.add(1, { reason: LOSSES.has(code as string) ? (code as string) : 'delivery_failed' });
  }

  /** Measures the sending of a batch. */
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
