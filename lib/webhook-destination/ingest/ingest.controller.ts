import type { IncomingMessage, ServerResponse } from 'node:http';

import { Controller, Inject, NotFoundException, Post, Req, Res, type Type, VERSION_NEUTRAL } from '@nestjs/common';

import { IngestEndpoint } from './ingest.endpoint.js';
import { documentIngest } from './ingest.openapi.js';
import { INGEST_PATHS, type IngestRoute } from './ingest.routes.js';

/** A request and its response as Express gives them, or Fastify. */
type PlatformRequest = IncomingMessage | { raw: IncomingMessage; body: unknown };
type PlatformResponse = ServerResponse | { raw: ServerResponse; hijack(): void };

/**
 * The endpoint's routes as Nest knows them: under the application's global prefix, and in its OpenAPI document.
 * Without a global prefix a request is answered before it comes here.
 * Each module has a class of its own: its prefix is an option, known only once the application starts.
 */
export function createIngestController(): Type {
  @Controller()
  class IngestController {
    constructor(@Inject(IngestEndpoint) readonly endpoint: IngestEndpoint | undefined) {}
  }
  for (const [route, paths] of Object.entries(INGEST_PATHS) as [IngestRoute, string[]][]) {
    addRoute(IngestController.prototype, route, paths);
  }
  return IngestController;
}

/** Puts the controller under its prefix, and into the OpenAPI document; without a prefix it is in neither. */
export async function placeIngestController(controller: Type, prefix: string | undefined): Promise<void> {
  Controller({ path: prefix, version: VERSION_NEUTRAL })(controller);
  await documentIngest(controller, prefix !== undefined);
}

function addRoute(prototype: { endpoint?: IngestEndpoint | undefined }, route: IngestRoute, paths: string[]): void {
  const descriptor: PropertyDescriptor = {
    value: async function (this: typeof prototype, request: PlatformRequest, response: PlatformResponse) {
      if (!this.endpoint) throw new NotFoundException();
      await this.endpoint.handle(route, toNodeRequest(request), toNodeResponse(response));
    },
  };
  Object.defineProperty(prototype, route, descriptor);
  Post(paths)(prototype, route, descriptor);
  Req()(prototype, route, 0);
  Res()(prototype, route, 1);
}

function toNodeRequest(request: PlatformRequest): IncomingMessage {
  return 'raw' in request ? Object.assign(request.raw, { body: request.body }) : request;
}

function toNodeResponse(response: PlatformResponse): ServerResponse {
  if (!('raw' in response)) return response;
  response.hijack();
  return response.raw;
}
