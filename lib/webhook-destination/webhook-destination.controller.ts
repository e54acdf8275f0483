import { Controller, Inject, type Type } from '@nestjs/common';

import { type NodeHandler, placeController } from '../common/platform.controller.js';
import { httpContext } from './admin/http-context.util.js';
import { describeIngest } from './ingest/ingest.openapi.js';
import { INGEST_PATHS, type IngestRoute } from './ingest/ingest.routes.js';
import { RelaySteps } from './relay-steps.js';

/** A controller, and what its routes call. */
export type RelayController = Type<{ steps: RelaySteps }>;

type Handler = NodeHandler<{ steps: RelaySteps }>;

/**
 * The relay's routes as Nest knows them: under the application's global prefix, and in its OpenAPI document. Without a
 * global prefix, requests are answered before they reach it.
 * Each module has a class of its own: its prefix is an option, known only once the application starts.
 */
export function createRelayController(): RelayController {
  @Controller()
  class WebhookDestinationController {
    constructor(@Inject(RelaySteps) readonly steps: RelaySteps) {}
  }
  return WebhookDestinationController;
}

/** Gives the controller the routes that the options select. */
export async function placeRelayController(controller: RelayController, steps: RelaySteps): Promise<void> {
  const ofIngest = steps.ingest ? ingestRoutes(steps.prefix) : [];
  const ofAdmin = (steps.admin?.routes ?? []).map(({ name, method, path, description }, index) => {
    const handle: Handler = ({ steps: { admin } }, request, response, platform) =>
      admin!.routes[index]!.endpoint.handle(request, response, httpContext(...platform));
    return { name, method, path, handle, description };
  });
  const routes = [...ofIngest, ...ofAdmin];
  if (routes.length > 0) await placeController(controller, routes);
}

function ingestRoutes(prefix: string) {
  return (Object.entries(INGEST_PATHS) as [IngestRoute, string[]][]).flatMap(([route, paths]) => {
    const handle: Handler = ({ steps: { ingest } }, request, response) =>
      ingest!.endpoint.handle(route, request, response);
    return paths.map((path) => ({
      name: path,
      method: 'POST' as const,
      path: `/${prefix}/${path}`,
      handle,
      description: describeIngest(route, path),
    }));
  });
}
