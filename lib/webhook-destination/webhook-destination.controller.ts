import { Controller, Inject, type Type } from '@nestjs/common';

import type { AdminApi } from './admin/api/admin-api.js';
import { DELETION_DESCRIPTION } from './admin/deletion.openapi.js';
import { httpContext } from './admin/http-context.util.js';
import { describeIngest } from './ingest/ingest.openapi.js';
import { INGEST_ROUTES } from './ingest/ingest.routes.js';
import { type NodeHandler, type NodeRoute, placeController } from './platform.controller.js';
import { RelaySteps } from './relay-steps.js';

/** A controller class with the steps that its routes call. */
export type RelayController = Type<{ steps: RelaySteps }>;

type Handler = NodeHandler<{ steps: RelaySteps }>;

type Route = NodeRoute<{ steps: RelaySteps }>;

/**
 * Creates the controller of the relay's routes under the application's global prefix and in its OpenAPI document.
 * Without a global prefix, requests are answered before they reach the controller.
 * Each module has its own class, because its prefix is an option that is known only when the application starts.
 */
export function createRelayController(): RelayController {
  @Controller()
  class WebhookDestinationController {
    constructor(@Inject(RelaySteps) readonly steps: RelaySteps) {}
  }
  return WebhookDestinationController;
}

/** Adds the routes that the options select to the controller. */
export async function placeRelayController(controller: RelayController, steps: RelaySteps): Promise<void> {
  const routes = [
    ...(steps.ingest ? ingestRoutes(steps.prefix) : []),
    ...(steps.api ? [deletionRoute(steps.prefix), ...(await apiRoutes(steps.api))] : []),
  ];
  if (routes.length > 0) await placeController(controller, routes);
}

function ingestRoutes(prefix: string): Route[] {
  return INGEST_ROUTES.map(({ path: name, route }) => ({
    name,
    method: 'POST',
    path: `${prefix}/${name}`,
    handle: ({ steps: { ingest } }, request, response) => ingest!.endpoint.handle(route, request, response),
    description: describeIngest(route, name),
  }));
}

function deletionRoute(prefix: string): Route {
  const handle: Handler = ({ steps: { api } }, request, response, platform) =>
    api!.deletion.handle(request, response, httpContext(...platform));
  return { name: 'delete', method: 'POST', path: `${prefix}/delete`, handle, description: DELETION_DESCRIPTION };
}

async function apiRoutes({ endpoint }: AdminApi): Promise<Route[]> {
  const { describeApi } = await import('./admin/api/api.openapi.js');
  const { API_PATH } = await import('./admin/api/api.mount.js');
  const handle: Handler = ({ steps: { api } }, request, response, platform) => {
    const [, target = ''] = (request.url ?? '').split(new RegExp(`/${API_PATH}/(.*)`, 's'), 2);
    return api!.endpoint.handle(target, request, response, httpContext(...platform));
  };
  return endpoint.router.all.map((route) => ({
    name: `${route.method} ${route.path}`,
    method: route.method,
    path: `${API_PATH}/${route.path}`,
    handle,
    description: describeApi(route),
  }));
}
