import type { HttpAdapterHost } from '@nestjs/core';

import type { Concealed } from '../common/concealed.value.js';
import { ClientMetrics } from '../common/telemetry/client-metrics.js';
import { followedByBoth } from '../common/telemetry/followed-by-both.js';
import { RelayMetrics } from '../common/telemetry/relay-metrics.js';
import { AdminMount, type AdminRoute } from './admin/admin.mount.js';
import { DeletionEndpoint } from './admin/deletion.endpoint.js';
import { DELETION_DESCRIPTION } from './admin/deletion.openapi.js';
import { METRICS_DESCRIPTION } from './admin/metrics.openapi.js';
import { MetricsEndpoint } from './admin/metrics.endpoint.js';
import { UserDeletion } from './admin/user-deletion.js';
import { WebhookDispatcher } from './dispatch/webhook.dispatcher.js';
import { IngestEndpoint } from './ingest/ingest.endpoint.js';
import { IngestMount } from './ingest/ingest.mount.js';
import { IngestOptions } from './ingest/ingest.options.js';
import { MessageAcceptor } from './ingest/message.acceptor.js';
import { SourceRegistry } from './ingest/source.registry.js';
import type { DeliveryQueue } from './queue/delivery-queue.interface.js';
import { timeOf } from './queue/steady-clock.js';
import { DestinationManager } from './registry/destination.manager.js';
import type { Registry } from './registry/registry.js';
import { createRegistry } from './registry/registry.factory.js';
import { SourceManager } from './registry/source.manager.js';
import { DestinationRouter } from './routing/destination.router.js';
import type { WebhookDestinationOptions } from './webhook-destination.options.js';

const DELETION_ROUTE = { name: 'delete', method: 'POST', description: DELETION_DESCRIPTION } as const;

const METRICS_ROUTE = {
  name: 'metrics',
  method: 'GET',
  path: '/relay/api/metrics',
  description: METRICS_DESCRIPTION,
} as const;

/** A message's way, step by step: source, rules, routing, queue, dispatch; and the ways in. */
export class RelaySteps {
  readonly queue: DeliveryQueue;
  readonly sources: SourceRegistry;
  readonly acceptor: MessageAcceptor;
  readonly dispatcher: WebhookDispatcher;
  readonly registry: Registry;
  readonly sourceManager: SourceManager;
  readonly destinationManager: DestinationManager;
  readonly deletion: UserDeletion;
  /** First part of all routes. */
  readonly prefix: string;
  /** Undefined where the options leave it out. */
  readonly ingest: IngestMount | undefined;
  readonly admin: AdminMount | undefined;

  constructor(concealed: Concealed<WebhookDestinationOptions>, host: HttpAdapterHost) {
    const options = concealed.reveal();
    const { sources, destinations, queue, ingest, mode, delivery, admin, telemetry } = options;
    this.queue = queue();
    this.sources = new SourceRegistry(sources);
    const router = new DestinationRouter(destinations);
    const metrics = admin || telemetry ? this.createMetrics(options.maxMetricDestinations) : undefined;
    const follower = metrics && followedByBoth(metrics, telemetry);
    const all = [...(metrics?.all ?? []), ...ClientMetrics.ofProcess().all];
    if (metrics) telemetry?.observe?.(metrics.all);
    this.acceptor = new MessageAcceptor(router, this.queue, follower, metrics);
    this.dispatcher = new WebhookDispatcher(this.queue, concealed, follower);
    for (const destination of destinations) this.dispatcher.put(destination);
    this.registry = createRegistry(options, this.queue, {
      putSource: (source) => this.sources.put(source),
      removeSource: (name) => this.sources.remove(name),
      putDestination: (destination) => {
        router.put(destination);
        this.dispatcher.put(destination);
      },
      removeDestination: (name) => {
        router.remove(name);
        this.dispatcher.remove(name);
      },
    });
    this.sourceManager = new SourceManager(sources, this.registry);
    this.destinationManager = new DestinationManager(
      destinations,
      this.registry,
      this.sourceManager,
      delivery.retryWindow,
      (destination, body, messageId) => this.dispatcher.test(destination, body, messageId),
    );
    this.deletion = new UserDeletion(this.sources, router, this.queue);

    this.prefix = (ingest ?? new IngestOptions()).prefix;
    if (ingest && mode !== 'deliver') {
      this.ingest = new IngestMount(
        host,
        this.prefix,
        new IngestEndpoint(this.sources, this.acceptor, ingest, metrics),
      );
    }
    if (admin) {
      const deletion = new DeletionEndpoint(this.deletion);
      const figures = new MetricsEndpoint(all);
      const routes: [AdminRoute, AdminRoute] = [
        { ...DELETION_ROUTE, path: `/${this.prefix}/delete`, endpoint: deletion },
        { ...METRICS_ROUTE, endpoint: figures },
      ];
      this.admin = new AdminMount(host, routes, admin);
    }
  }

  private createMetrics(maxDestinations: number): RelayMetrics {
    const figures = {
      now: () => timeOf(this.queue),
      counts: () => this.queue.counts(),
      oldest: () => this.queue.oldest?.(),
      circuits: () => this.dispatcher.circuits,
    };
    return new RelayMetrics(figures, maxDestinations);
  }
}
