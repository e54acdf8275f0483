import type { ApplicationConfig, HttpAdapterHost, ModuleRef } from '@nestjs/core';

import { RelaySeries } from '../../observe/relay-series.js';
import type { AdminGate } from '../admin.gate.js';
import { DeletionEndpoint } from '../deletion.endpoint.js';
import { mountDeletion } from '../deletion.mount.js';
import { probeGate } from '../gate-probe.js';
import { LiveFeed } from '../live/live.feed.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { ApiEndpoint } from './api.endpoint.js';
import { mountApi } from './api.mount.js';
import { ApiRouter } from './api.router.js';
import { deliveryRoutes } from './delivery.routes.js';
import { eventRoute } from './event.routes.js';
import { explainRoute } from './explain.routes.js';
import { metricsRoute } from './metrics.routes.js';
import { overviewRoutes } from './overview.routes.js';
import { registryRoutes } from './registry.routes.js';
import { ReplayJobs } from './replay.jobs.js';
import { replayRoutes } from './replay.routes.js';
import { sessionRoutes } from './session.routes.js';

/** The admin routes of one module: `POST /<prefix>/delete`, the API with its live feed and its figures, the dashboard. */
export class AdminApi {
  readonly endpoint: ApiEndpoint;
  readonly deletion: DeletionEndpoint;
  private readonly deletionPath: string;
  private readonly series: RelaySeries;
  private readonly feed: LiveFeed;
  private readonly jobs: ReplayJobs;

  constructor(
    relay: AdminRelay,
    own: AdminProcess,
    private readonly host: HttpAdapterHost,
    private readonly gate: AdminGate,
  ) {
    const { accepted$ } = own.acceptor;
    const { series: store, peers } = own.queue;
    const series = new RelaySeries(store, accepted$, own.ingest?.endpoint.refused$, relay.events$);
    this.series = series;
    this.feed = new LiveFeed(accepted$, relay.events$, peers);
    this.jobs = new ReplayJobs(relay, peers);
    const routes = [
      ...sessionRoutes(gate),
      ...overviewRoutes(relay, own, series),
      metricsRoute(own.metrics),
      eventRoute(this.feed),
      ...deliveryRoutes(relay, own),
      ...replayRoutes(this.jobs),
      explainRoute(relay),
      ...registryRoutes(relay, own, series),
    ];
    this.endpoint = new ApiEndpoint(new ApiRouter(routes), gate, own.audit);
    this.deletion = new DeletionEndpoint(relay, gate, own.audit);
    this.deletionPath = `/${own.prefix}/delete`;
  }

  /** Serves the API and the dashboard. Called before Nest registers its routes. */
  async mount(config: ApplicationConfig): Promise<void> {
    const { DashboardEndpoint } = await import('../dashboard/dashboard.endpoint.js');
    mountApi(this.host, config, this.endpoint, new DashboardEndpoint(this.gate));
  }

  /** Serves `POST /<prefix>/delete`. It refuses all requests until {@link open}. */
  async mountDeletion(moduleRef: ModuleRef): Promise<void> {
    await this.gate.prepare(moduleRef);
    mountDeletion(this.host, this.deletionPath, this.deletion);
  }

  /**
   * Admits requests from now on. Called once the queue is open and the application has started, because a guard may
   * depend on the `onModuleInit` of other providers.
   *
   * @throws {OptionsError} if the guard admits an anonymous request or does not answer it
   */
  async open(): Promise<void> {
    await probeGate(this.gate, this.host.httpAdapter, this.deletionPath);
    this.gate.open();
    this.feed.open();
    this.jobs.open();
  }

  /** Ends the streams. Called before the server closes, because closing waits for them. */
  endStreams(): void {
    this.feed.close();
  }

  /** Called before the queue closes. */
  async close(): Promise<void> {
    this.jobs.close();
    await this.series.close();
    this.endpoint.close();
    this.deletion.close();
  }
}
