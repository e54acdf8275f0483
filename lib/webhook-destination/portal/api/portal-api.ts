import type { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';

import { OptionsError } from '../../../common/options.error.js';
import type { AuditLog } from '../../observe/audit.log.js';
import type { AddressReader } from '../../http/client-address.js';
import { below, claimPath, pathOf, serveBeforeRoutes, withGlobalPrefix } from '../../http/http.mount.js';
import type { ControllerRoute } from '../../http/route.controller.js';
import type { MessageExplainer } from '../../message.explainer.js';
import type { QueueFigures } from '../../observe/queue.figures.js';
import type { DeliveryQueue } from '../../queue/delivery.queue.js';
import type { DestinationManager } from '../../registry/destination.manager.js';
import type { SourceManager } from '../../registry/source.manager.js';
import type { EventCatalogue } from '../event-catalogue.js';
import { PublicKeySet } from '../jwks.js';
import { OpaqueIds } from '../opaque-ids.js';
import { PortalGate } from '../portal.gate.js';
import type { PortalKeys } from '../portal.keys.js';
import { PORTAL_PATH, type PortalLinks } from '../portal.links.js';
import type { PortalOptions } from '../portal.options.js';
import { isPage, PortalPageEndpoint } from '../portal-page.endpoint.js';
import { TenantDeliveries } from '../tenant.deliveries.js';
import { TenantEndpoints } from '../tenant.endpoints.js';
import { deliveryRoutes } from './delivery.routes.js';
import { endpointRoutes } from './endpoint.routes.js';
import { eventRoutes } from './event.routes.js';
import { PortalEndpoint } from './portal.endpoint.js';
import { ANSWERS } from './portal.route.js';

/** The steps of this process, as far as the portal uses them. */
export interface PortalProcess {
  readonly queue: Pick<DeliveryQueue, 'list' | 'replays' | 'searches'>;
  readonly figures: Pick<QueueFigures, 'counts'>;
  readonly explainer: Pick<MessageExplainer, 'endOf'>;
  readonly destinationManager: DestinationManager;
  readonly sourceManager: SourceManager;
  readonly audit: AuditLog;
}

/** The customers' portal of one module: the pages, the public keys, and the API that the pages and applications use. */
export class PortalApi {
  /** Routes of the API, and of the public keys. */
  readonly routes: ControllerRoute[];
  private readonly gate: PortalGate;
  private readonly endpoint: PortalEndpoint;
  private readonly page: PortalPageEndpoint;

  constructor(
    options: PortalOptions,
    keys: PortalKeys,
    private readonly links: PortalLinks,
    catalogue: EventCatalogue,
    { queue, figures, explainer, destinationManager: manager, sourceManager, audit }: PortalProcess,
    addressOf: AddressReader,
    private readonly host: HttpAdapterHost,
  ) {
    this.gate = new PortalGate(links, addressOf);
    const ids = new OpaqueIds(keys);
    const endpoints = new TenantEndpoints(manager, sourceManager, ids, options);
    const deliveries = new TenantDeliveries(queue, figures, explainer, manager, endpoints, ids);
    const routes = [
      ...eventRoutes(catalogue, options, endpoints.limit),
      ...endpointRoutes(manager, endpoints, deliveries, catalogue, ids),
      ...deliveryRoutes(endpoints, deliveries),
    ];
    this.endpoint = new PortalEndpoint(routes, this.gate, audit);
    this.page = new PortalPageEndpoint(options, new PublicKeySet(manager));
    this.routes = [
      ...this.endpoint.controllerRoutes(`${PORTAL_PATH}/api`, 'relay_portal', ANSWERS),
      {
        method: 'GET',
        path: `${PORTAL_PATH}/jwks.json`,
        summary: 'The public keys that verify the signatures of v1a endpoints, as a JSON Web Key Set',
        operationId: 'relay_portal_getJwks',
        query: { kid: 'id of one key; default: all, unless there are too many' },
        answers: { 200: 'The keys', 404: 'There are too many keys for one answer: ask for one' },
        handle: (request, response) => this.page.handle('/jwks.json', request, response),
      },
    ];
  }

  /**
   * Serves the portal ahead of Nest's router, and after the application's `app.use` middleware. If there is a global
   * prefix, it is also served below it. Called before Nest registers its routes.
   *
   * @throws {OptionsError} if another module of the application has mounted a portal
   */
  mount(config: ApplicationConfig): void {
    const platform = this.host.httpAdapter?.getType() ?? 'none';
    if (!['express', 'fastify', 'none'].includes(platform)) throw fault(`needs Express or Fastify, not ${platform}`);
    if (!claimPath(this.host, PORTAL_PATH)) {
      throw fault(`must be set in only one module of the application: another module already has ${PORTAL_PATH}`);
    }
    const bases = withGlobalPrefix(PORTAL_PATH, config.getGlobalPrefix());
    this.links.base = bases.at(-1)!;
    serveBeforeRoutes(this.host, ({ url }) => {
      const rest = below(url, bases);
      if (rest === undefined) return undefined;
      const target = below(rest, ['/api']);
      if (target !== undefined) {
        return (request, response) => this.endpoint.handle(target.replace(/^\//, ''), request, response);
      }
      const path = pathOf(rest);
      return isPage(path) ? (request, response) => this.page.handle(path, request, response) : undefined;
    });
  }

  /** Admits requests from now on. Called once the queue is open and the application has started. */
  open(): Promise<void> {
    return this.gate.open();
  }

  close(): void {
    this.endpoint.close();
    this.page.close();
  }
}

const fault = (rule: string) => new OptionsError('WebhookDestinationModule', [`portal ${rule}`]);
