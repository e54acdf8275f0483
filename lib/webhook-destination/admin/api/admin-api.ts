import type { Subscription } from 'rxjs';

import type { AdminGate } from '../admin.gate.js';
import type { AuditLog } from '../audit.log.js';
import { LiveFeed } from '../live/live.feed.js';
import { SeriesRecorder } from '../series/series.recorder.js';
import { SeriesWriter } from '../series/series.writer.js';
import { SourceRecorder } from '../series/source.recorder.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { ApiEndpoint } from './api.endpoint.js';
import { ApiRouter } from './api.router.js';
import { deliveryRoutes } from './delivery.routes.js';
import { eventRoutes } from './event.routes.js';
import { explainRoutes } from './explain.routes.js';
import { metricsRoutes } from './metrics.routes.js';
import { overviewRoutes } from './overview.routes.js';
import { registryRoutes } from './registry.routes.js';
import { ReplayJobs } from './replay.jobs.js';
import { replayRoutes } from './replay.routes.js';
import { sessionRoutes } from './session.routes.js';

/** The admin API of one module, with its live feed and its figures. */
export class AdminApi {
  readonly endpoint: ApiEndpoint;
  private readonly writer: SeriesWriter;
  private readonly feed: LiveFeed;
  private readonly jobs: ReplayJobs;
  private readonly subscriptions: Subscription[];

  constructor(relay: AdminRelay, own: AdminProcess, gate: AdminGate, audit: AuditLog) {
    this.writer = new SeriesWriter(own.series);
    const series = new SeriesRecorder(this.writer);
    const sources = new SourceRecorder(this.writer);
    this.feed = new LiveFeed(own.accepted$, relay.events$, own.peers);
    this.jobs = new ReplayJobs(relay, own.peers);
    const routes = [
      ...sessionRoutes(gate),
      ...overviewRoutes(own, series),
      ...metricsRoutes(own.metrics),
      ...eventRoutes(this.feed),
      ...deliveryRoutes(relay, own),
      ...replayRoutes(this.jobs),
      ...explainRoutes(relay),
      ...registryRoutes(relay, own, series, sources),
    ];
    this.endpoint = new ApiEndpoint(new ApiRouter(routes), gate, audit);
    this.subscriptions = [
      own.accepted$.subscribe((acceptance) => series.accepted(acceptance)),
      own.accepted$.subscribe((acceptance) => sources.accepted(acceptance)),
      own.refused$.subscribe((refusal) => sources.refused(refusal)),
      relay.events$.subscribe((event) => series.settled(event)),
    ];
  }

  /** Called once the queue is open. */
  open(): void {
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
    for (const subscription of this.subscriptions) subscription.unsubscribe();
    await this.writer.close();
    this.endpoint.close();
  }
}
