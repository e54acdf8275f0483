import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

import type { Concealed } from '../common/concealed.value.js';
import { ClientMetrics } from '../common/telemetry/client-metrics.js';
import type { Metric } from '../common/telemetry/metric.js';
import type { AdminApi } from './admin/api/admin-api.js';
import { ActivityLog } from './admin/activity/activity.log.js';
import { DeletionReceipts } from './admin/activity/deletion-receipts.js';
import { AuditLog } from './observe/audit.log.js';
import { namedTokens } from './admin/token.rules.js';
import { UserDeletion } from './admin/user-deletion.js';
import { WebhookDispatcher } from './dispatch/webhook.dispatcher.js';
import type { ControllerRoute } from './http/route.controller.js';
import { IngestEndpoint } from './ingest/ingest.endpoint.js';
import { IngestOptions } from './ingest/ingest.options.js';
import type { InProcessProducer } from './ingest/in-process-ingest.interface.js';
import { MessageAcceptor } from './ingest/message.acceptor.js';
import { Resubmission } from './ingest/resubmission.js';
import { SourceRegistry } from './ingest/source.registry.js';
import { RelayMetrics } from './observe/relay-metrics.js';
import type { PortalApi } from './portal/api/portal-api.js';
import { EventCatalogue } from './portal/event-catalogue.js';
import { PortalKeys } from './portal/portal.keys.js';
import { PortalLinks } from './portal/portal.links.js';
import type { DeliveryCount, NewDelivery } from './queue/delivery.interface.js';
import type { DeliveryQueue } from './queue/delivery.queue.js';
import { createQueue } from './queue/queue.factory.js';
import { figuresOf, type QueueFigures } from './observe/queue.figures.js';
import { MessageExplainer } from './message.explainer.js';
import { EndpointLife } from './portal/endpoint-life.js';
import { OperatorWebhooks } from './portal/operator.webhooks.js';
import { DestinationManager } from './registry/destination.manager.js';
import type { Registry } from './registry/registry.js';
import { createRegistry } from './registry/registry.factory.js';
import { SourceManager } from './registry/source.manager.js';
import { DestinationRouter } from './routing/destination.router.js';
import type { WebhookDestinationOptions } from './webhook-destination.options.js';
import { CHECKED_OPTIONS } from './webhook-destination.tokens.js';

/** The steps of a message through the relay (source, rules, routing, queue, dispatch), and the entry points. */
@Injectable()
export class RelaySteps {
  readonly queue: DeliveryQueue;
  readonly figures: QueueFigures;
  readonly sources: SourceRegistry;
  readonly acceptor: MessageAcceptor;
  readonly dispatcher: WebhookDispatcher;
  readonly registry: Registry;
  readonly sourceManager: SourceManager;
  readonly destinationManager: DestinationManager;
  /** Undefined without the option `portal`. */
  readonly endpoints: EndpointLife | undefined;
  /** Undefined without an operator. */
  readonly operator: OperatorWebhooks | undefined;
  readonly deletion: UserDeletion;
  readonly resubmission: Resubmission;
  /** Path prefix of all routes. */
  readonly prefix: string;
  /** Undefined if the options disable ingest. */
  readonly ingest: IngestEndpoint | undefined;
  readonly audit = new AuditLog();
  /** Keeps what the audit log emits. */
  readonly activity: ActivityLog;
  readonly receipts: DeletionReceipts;
  /** Loaded only with the option `admin`. */
  api: AdminApi | undefined;
  /** Links to the portal; undefined without the option `portal`. */
  readonly portalLinks: PortalLinks | undefined;
  readonly portalKeys: PortalKeys | undefined;
  /** The events that the application sends: of the option, or else of the tracking plans of its producers. */
  readonly catalogue: EventCatalogue | undefined;
  /** Loaded only with the option `portal`. */
  portal: PortalApi | undefined;
  /** What records events in this process. They pass on their last events before the relay stops. */
  readonly producers = new Set<InProcessProducer>();
  /** Resolves once the queue and the registry are open. */
  opened: () => Promise<void> = () => Promise.resolve();
  /** Routes of the controller. */
  routes: ControllerRoute[] = [];
  /**
   * Withdraws from the controller the routes that are answered before Nest's router: those of the API, and without a
   * global prefix the others, too. Returns a function that puts them back.
   */
  withdrawAnswered!: (globalPrefix: string) => () => void;
  readonly explainer: MessageExplainer;
  /** Metrics of this relay and of all clients in the process. */
  readonly metrics: readonly Metric[];
  /** Counts records that a sweep removes because of a `count` of the retention. */
  readonly countSurplus: (surplus: DeliveryCount[]) => void;
  /** Passes the metrics to the option `telemetry`, until the returned function is called. */
  readonly observeMetrics: () => (() => void) | void;

  constructor(@Inject(CHECKED_OPTIONS) concealed: Concealed<WebhookDestinationOptions>, host: HttpAdapterHost) {
    const options = concealed.reveal();
    const { sources, destinations, queue, ingest, mode, delivery, admin, portal, telemetry } = options;
    this.queue = createQueue(queue);
    this.queue.searchBy(options.search.fields);
    this.activity = new ActivityLog(this.queue.logs, this.audit.entries$);
    this.figures = figuresOf(this.queue);
    this.sources = new SourceRegistry(sources);
    const router = new DestinationRouter(destinations);
    const figures = {
      now: () => this.queue.now(),
      ...this.figures,
      isActive: (name: string) => this.dispatcher.isActive(name),
      circuits: () => this.dispatcher.circuits,
    };
    const metrics =
      admin || telemetry ? new RelayMetrics(figures, options.maxMetricDestinations, telemetry) : undefined;
    this.metrics = [...(metrics?.all ?? []), ...ClientMetrics.ofProcess().all];
    this.countSurplus = (surplus) => metrics?.removeSurplus(surplus);
    this.observeMetrics = () => metrics && telemetry?.observe?.(metrics.all);
    this.acceptor = new MessageAcceptor(router, this.queue, metrics);
    this.resubmission = new Resubmission(this.sources, this.acceptor, this.queue.refusals);
    this.dispatcher = new WebhookDispatcher(this.queue, concealed, metrics);
    this.receipts = new DeletionReceipts(this.queue.logs, this.dispatcher.events$);
    for (const destination of destinations) this.dispatcher.put(destination);
    const tokens = namedTokens(admin).map(({ token }) => token);
    const settings = { ...options, tenantKey: portal?.tenant, isAdminToken: (key: string) => tokens.includes(key) };
    this.registry = createRegistry(settings, this.queue, {
      source: this.sources,
      destination: {
        put: (destination) => {
          router.put(destination);
          this.dispatcher.put(destination);
          this.endpoints?.put(destination);
        },
        remove: (name) => {
          router.remove(name);
          this.dispatcher.remove(name);
          this.endpoints?.forget(name);
        },
      },
    });
    if (portal) {
      const { disableAfter, operator } = portal;
      const life = new EndpointLife(this.registry, this.queue.clock, disableAfter, this.dispatcher.events$);
      this.endpoints = life;
      if (operator !== undefined) {
        const store = (deliveries: NewDelivery[]) => this.acceptor.storeAll(deliveries);
        this.operator = new OperatorWebhooks(operator, store, () => this.queue.now(), life.events$);
      }
    }
    this.sourceManager = new SourceManager(this.registry);
    this.destinationManager = new DestinationManager(
      this.registry,
      this.sourceManager,
      delivery.retryWindow,
      (destination, body, messageId) => this.dispatcher.test(destination, body, messageId),
      () => this.queue.now(),
    );
    const inUse = () => this.destinationManager.inUse();
    this.explainer = new MessageExplainer(this.sources, inUse, this.queue, delivery.retryWindow);
    this.deletion = new UserDeletion(this.sources, router, this.queue, (notices) => this.acceptor.storeAll(notices));

    if (portal) {
      const planned = () => [...this.producers].flatMap(({ eventClasses = [] }) => eventClasses);
      this.catalogue = new EventCatalogue(() => portal.events ?? planned(), portal.brand?.name);
      this.portalKeys = new PortalKeys(portal.secret);
      this.portalLinks = new PortalLinks(this.portalKeys, this.catalogue, this.queue, this.audit, () => this.opened());
    }

    this.prefix = (ingest ?? new IngestOptions()).prefix;
    if (ingest && mode !== 'deliver') {
      this.ingest = new IngestEndpoint(host, this.sources, this.acceptor, ingest, metrics);
    }
  }
}
