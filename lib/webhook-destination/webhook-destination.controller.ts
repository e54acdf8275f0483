import { Controller, Inject } from '@nestjs/common';

import type { Route } from './http/route-conflicts.check.js';
import { placeController, type RouteController, withdrawRoutes } from './http/route.controller.js';
import { SETTINGS_PATHS } from './ingest/sdk-settings.js';
import { PORTAL_PATH } from './portal/portal.links.js';
import { RelaySteps } from './relay-steps.js';

const controllers = new WeakSet<object>();

/** Whether a controller class is that of a relay. */
export const isRelayController = (controller: unknown): boolean => controllers.has(Object(controller) as object);

/** Returns the routes of ingest and of deletion: the fixed paths, and those of the controller. */
export function routesOf({ ingest, api, prefix }: RelaySteps, globalPrefix: string): Route[] {
  const settings = ingest ? SETTINGS_PATHS.map((path) => ({ method: 'GET', path: `/${prefix}${path}` })) : [];
  const fixed: Route[] = [...(ingest?.routes ?? []), ...settings, ...(api ? [api.deletion] : [])];
  const base = baseOf(globalPrefix);
  if (base === '') return fixed;
  const placed = [...(ingest?.controllerRoutes ?? []), ...(api ? [api.deletion] : [])];
  return [...fixed, ...placed.map(({ method, path }) => ({ method, path: `/${base}${path}` }))];
}

/**
 * Creates the controller of the relay's routes under the application's global prefix and in its OpenAPI document.
 * Without a global prefix, requests are answered before they reach the controller.
 * Each module has its own class, because its prefix is an option that is known only when the application starts.
 */
export function createRelayController(): RouteController {
  @Controller()
  class WebhookDestinationController {
    constructor(@Inject(RelaySteps) private readonly steps: RelaySteps) {}

    get routes() {
      return this.steps.routes;
    }
  }
  controllers.add(WebhookDestinationController);
  return WebhookDestinationController;
}

/** Adds the routes that the options select to the controller. */
export async function placeRelayController(controller: RouteController, steps: RelaySteps): Promise<void> {
  const { ingest, api, portal } = steps;
  const answered = [...(api?.routes ?? []), ...(portal?.routes ?? [])];
  steps.routes = [...(ingest?.controllerRoutes ?? []), ...(api ? [api.deletion] : []), ...answered];
  if (steps.routes.length > 0) await placeController(controller, steps.routes);
  steps.withdrawAnswered = (globalPrefix) =>
    withdrawRoutes(controller, baseOf(globalPrefix) === '' ? steps.routes : answered);
}

/** Describes the routes in one line; undefined if there are none. */
export function describeRoutes({ ingest, api, portal, prefix }: RelaySteps): string | undefined {
  const parts = [
    ...(ingest ? [`events at /${prefix}`] : []),
    ...(api ? [`deletion at ${api.deletion.path}`, 'dashboard and admin API at /relay'] : []),
    ...(portal ? [`portal at ${PORTAL_PATH}`] : []),
  ];
  return parts.length > 0 ? `Routes: ${parts.join(', ')}` : undefined;
}

function baseOf(globalPrefix: string): string {
  return globalPrefix.replace(/^\/+|\/+$/g, '');
}
