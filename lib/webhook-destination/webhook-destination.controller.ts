import { Controller, Inject, type Type } from '@nestjs/common';

import type { AdminApi } from './admin/api/admin-api.js';
import { DELETION_DESCRIPTION } from './admin/deletion.openapi.js';
import { httpContext } from './admin/http-context.util.js';
import { describeIngest } from './ingest/ingest.openapi.js';
import { INGEST_ROUTES } from './ingest/ingest.routes.js';
import { SETTINGS_PATHS } from './ingest/sdk-settings.js';
import { type NodeHandler, type NodeRoute, placeController } from './platform.controller.js';
import { RelaySteps } from './relay-steps.js';
import type { Route as ServedRoute } from './route-conflicts.check.js';

/** A controller class with the steps that its routes call. */
export type RelayController = Type<{ steps: RelaySteps }>;

type Handler = NodeHandler<{ steps: RelaySteps }>;

type Route = NodeRoute<{ steps: RelaySteps }>;

const controllers = new WeakSet<object>();

/** Whether a controller class is that of a relay. */
export const isRelayController = (controller: unknown): boolean => controllers.has(Object(controller) as object);

/** Returns the routes of ingest and of deletion: the fixed paths, and those of the controller. */
export function routesOf({ ingest, api, prefix }: RelaySteps, globalPrefix: string): ServedRoute[] {
  const fixed = [
    ...(ingest ? INGEST_ROUTES.map(({ path }) => ({ method: 'POST', path: `/${prefix}/${path}` })) : []),
    ...(ingest ? SETTINGS_PATHS.map((path) => ({ method: 'GET', path: `/${prefix}${path}` })) : []),
    ...(api ? [{ method: 'POST', path: `/${prefix}/delete` }] : []),
  ];
  const base = globalPrefix.replace(/^\/+|\/+$/g, '');
  if (base === '') return fixed;
  const placed = fixed.filter(({ method }) => method === 'POST');
  return [...fixed, ...placed.map(({ method, path }) => ({ method, path: `/${base}${path}` }))];
}

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
  controllers.add(WebhookDestinationController);
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
