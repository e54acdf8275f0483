import type { ApplicationConfig, HttpAdapterHost, ModuleRef } from '@nestjs/core';

import { OptionsError } from '../../../common/options.error.js';
import { type Answerer, below, claimPath, pathOf, serveBeforeRoutes, withGlobalPrefix } from '../../http/http.mount.js';
import type { ControllerRoute } from '../../http/route.controller.js';
import { RefusalKeeper } from '../../observe/refusal.keeper.js';
import { RelaySeries } from '../../observe/relay-series.js';
import type { AdminGate } from '../admin.gate.js';
import { probeGuard } from '../gate-probe.js';
import { LiveFeed } from '../live/live.feed.js';
import { McpRoute } from '../mcp/mcp.routes.js';
import { activityRoutes } from './activity.routes.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { ApiEndpoint } from './api.endpoint.js';
import { ANSWERS } from './api.route.js';
import { attentionRoute } from './attention.routes.js';
import { DELETION_ROUTE, deletionRoutes } from './deletion.routes.js';
import { deliveryRoutes } from './delivery.routes.js';
import { DestinationRanking } from './destination.ranking.js';
import { explainRoute } from './explain.routes.js';
import { LastFailures } from './last-failures.js';
import { eventRoute, metricsRoute, overviewRoutes } from './overview.routes.js';
import { portalRoutes } from './portal.routes.js';
import { refusalRoutes } from './refusal.routes.js';
import { registryRoutes } from './registry.routes.js';
import { ReplayJobs } from './replay.jobs.js';
import { replayRoutes } from './replay.routes.js';
import { sessionRoutes } from './session.routes.js';

/** Path of the dashboard. */
const DASHBOARD_PATH = '/relay';

/** Path of the API. */
const API_PATH = `${DASHBOARD_PATH}/api`;

/** The admin routes of one module: `POST /<prefix>/delete`, the API with its live feed and its figures, the dashboard. */
export class AdminApi {
  /** Route of `POST /<prefix>/delete`. */
  readonly deletion: ControllerRoute;
  /** Routes of the API. */
  readonly routes: ControllerRoute[];
  /** Paths of the dashboard. */
  private bases = [DASHBOARD_PATH];
  private readonly endpoint: ApiEndpoint;
  private readonly series: RelaySeries;
  private readonly keeper: RefusalKeeper;
  private readonly feed: LiveFeed;
  private readonly jobs: ReplayJobs;
  private readonly failures: LastFailures;
  private readonly mcp: McpRoute | undefined;

  constructor(
    relay: AdminRelay,
    own: AdminProcess,
    private readonly host: HttpAdapterHost,
    private readonly gate: AdminGate,
  ) {
    const { accepted$ } = own.acceptor;
    const { series: store, peers } = own.queue;
    const series = new RelaySeries(store, accepted$, own.ingest?.refused$, relay.events$);
    this.series = series;
    this.keeper = new RefusalKeeper(own.queue.refusals, accepted$, own.ingest?.refused$);
    this.feed = new LiveFeed(accepted$, relay.events$, peers);
    this.jobs = new ReplayJobs(relay, own.queue, peers);
    this.failures = new LastFailures(relay.events$, own.queue);
    const ranking = new DestinationRanking(own, series);
    if (gate.hasMcp) this.mcp = new McpRoute((request) => this.endpoint.callerOf(request));
    const routes = [
      ...sessionRoutes(gate, {
        searchFields: own.queue.searched.names,
        hasStoredRegistry: own.registry.origin === 'store',
      }),
      ...overviewRoutes(relay, own, series),
      attentionRoute(relay, own, ranking, this.failures),
      metricsRoute(own.metrics),
      eventRoute(this.feed),
      ...deliveryRoutes(relay, own, this.jobs),
      ...deletionRoutes(own),
      ...activityRoutes(own),
      ...replayRoutes(this.jobs),
      explainRoute(relay),
      ...registryRoutes(relay, own, series, ranking),
      ...refusalRoutes(own, series),
      ...(own.portalLinks ? portalRoutes(own.portalLinks) : []),
      ...(this.mcp ? [this.mcp.route] : []),
    ];
    this.endpoint = new ApiEndpoint(routes, own.deletion, gate, own.audit);
    const handleDeletion: Answerer = (...exchange) => this.endpoint.handleDeletion(...exchange);
    this.deletion = { ...DELETION_ROUTE, path: `/${own.prefix}/delete`, handle: handleDeletion };
    this.routes = this.endpoint.controllerRoutes(API_PATH, 'relay', ANSWERS);
  }

  /**
   * Serves the API and the dashboard ahead of Nest's router, and after the application's `app.use` middleware, so the
   * guard can rely on sessions. If there is a global prefix, both are also served below it. Called before Nest
   * registers its routes.
   *
   * @throws {OptionsError} if another module of the application has mounted the API
   */
  async mount(config: ApplicationConfig): Promise<void> {
    const { DashboardEndpoint } = await import('../dashboard/dashboard.endpoint.js');
    const dashboard = new DashboardEndpoint(this.gate);
    if (!claimPath(this.host, API_PATH)) {
      throw fault(`must be set in only one module of the application: another module already has ${API_PATH}`);
    }
    const bases = (this.bases = withGlobalPrefix(DASHBOARD_PATH, config.getGlobalPrefix()));
    this.serve(({ url }) => {
      const rest = below(url, bases);
      if (rest === undefined) return undefined;
      const target = below(rest, ['/api']);
      if (target !== undefined) return (...exchange) => this.endpoint.handle(target.replace(/^\//, ''), ...exchange);
      const path = pathOf(rest);
      const isOurs = path === '' || path === '/' || path.startsWith('/assets/'); // others may be the application's own
      return isOurs ? (...exchange) => dashboard.handle(path, ...exchange) : undefined;
    });
  }

  /**
   * Serves `POST /<prefix>/delete`, after the middleware of the application and its modules. It refuses all requests
   * until {@link open}.
   */
  async mountDeletion(moduleRef: ModuleRef): Promise<void> {
    await this.gate.prepare(moduleRef);
    const { path, handle } = this.deletion;
    const own = path.toLowerCase(); // as on Express, whose routes ignore case and a trailing slash
    this.serve(({ method, url }) =>
      method === 'POST' && pathOf(url).toLowerCase().replace(/\/$/, '') === own ? handle : undefined,
    );
  }

  /**
   * Admits requests from now on. Called once the queue is open and the application has started, because a guard may
   * depend on the `onModuleInit` of other providers.
   *
   * @throws {OptionsError} if the guard admits an anonymous request or does not answer it
   * @throws {PackageError} if `admin.mcp` is set and the SDK is not installed
   */
  async open(): Promise<void> {
    if (this.gate.guard) await probeGuard(this.gate.guard, this.host.httpAdapter, this.guarded());
    await this.mcp?.open();
    await this.gate.open();
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
    this.failures.close();
    this.gate.close();
    await this.keeper.close();
    await this.series.close();
    this.endpoint.close();
  }

  /** Returns the methods and paths about which a guard decides, with any values in place of parameters. */
  private guarded(): [method: string, path: string][] {
    const routes = this.endpoint.routes.filter(({ access }) => access !== 'anyone');
    const ofBase = (base: string): [string, string][] => [
      ...routes.map(({ method, path }): [string, string] => [method, `${base}/api/${path.replace(/:\w+/g, 'any')}`]),
      ['GET', `${base}/`],
    ];
    const above = this.bases.map((base) => base.slice(0, -DASHBOARD_PATH.length));
    return [
      ...this.bases.flatMap(ofBase),
      ...above.map((path): [string, string] => ['POST', path + this.deletion.path]),
    ];
  }

  private serve(find: Parameters<typeof serveBeforeRoutes>[1]): void {
    const platform = this.host.httpAdapter?.getType() ?? 'none';
    if (!['express', 'fastify', 'none'].includes(platform)) throw fault(`needs Express or Fastify, not ${platform}`);
    serveBeforeRoutes(this.host, find);
  }
}

const fault = (rule: string) => new OptionsError('WebhookDestinationModule', [`admin ${rule}`]);
