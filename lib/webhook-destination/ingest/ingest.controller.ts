import { Controller, Inject, type Type } from '@nestjs/common';

import { type NodeHandler, placeController } from '../../common/platform.controller.js';
import { IngestEndpoint } from './ingest.endpoint.js';
import { describeIngest } from './ingest.openapi.js';
import { INGEST_PATHS, type IngestRoute } from './ingest.routes.js';

/**
 * The endpoint's routes as Nest knows them: under the application's global prefix, and in its OpenAPI document.
 * Without a global prefix a request is answered before it comes here.
 * Each module has a class of its own: its prefix is an option, known only once the application starts.
 */
export function createIngestController(): Type<{ endpoint: IngestEndpoint | undefined }> {
  @Controller()
  class IngestController {
    constructor(@Inject(IngestEndpoint) readonly endpoint: IngestEndpoint | undefined) {}
  }
  return IngestController;
}

/** Gives the controller its routes. */
export async function placeIngestController(
  controller: ReturnType<typeof createIngestController>,
  prefix: string,
): Promise<void> {
  const routes = (Object.entries(INGEST_PATHS) as [IngestRoute, string[]][]).flatMap(([route, paths]) => {
    const handle: NodeHandler<{ endpoint: IngestEndpoint | undefined }> = ({ endpoint }, request, response) =>
      endpoint!.handle(route, request, response);
    return paths.map((path) => ({ name: path, path, handle, description: describeIngest(route, path) }));
  });
  await placeController(controller, prefix, routes);
}
