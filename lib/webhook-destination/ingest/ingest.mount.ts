import type { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import type { IngestEndpoint } from './ingest.endpoint.js';
import { ingestRoutes } from './ingest.routes.js';

type ExpressMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** As much of Fastify as is used here; the application may not have it installed. */
interface Fastify {
  register(plugin: (scope: FastifyScope, options: unknown, done: () => void) => void): void;
}
type FastifyRoute = (
  path: string,
  handle: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): void }) => void,
) => void;
interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parse: (request: unknown, body: unknown, done: (error: null) => void) => void,
  ): void;
  post: FastifyRoute;
  options: FastifyRoute;
}

/**
 * Puts the endpoint before the application's body parsers, global prefix, guards and pipes: SDKs post to fixed paths,
 * in sizes and content types of their own, and the host's other routes stay as they are.
 */
export function mountIngest(adapterHost: HttpAdapterHost, prefix: string, endpoint: IngestEndpoint): void {
  // Under Nest's testing module the adapter comes only after the providers.
  if (adapterHost.httpAdapter) mount(adapterHost, prefix, endpoint);
  else adapterHost.init$.subscribe(() => mount(adapterHost, prefix, endpoint));
}

function mount({ httpAdapter }: HttpAdapterHost, prefix: string, endpoint: IngestEndpoint): void {
  const routes = ingestRoutes(prefix);
  const { cors } = endpoint;
  switch (httpAdapter?.getType()) {
    case undefined: // an application context without HTTP
      return;
    case 'express':
      httpAdapter.use(((request, response, next) => {
        const [path = ''] = request.url?.split('?', 1) ?? [];
        const route = routes.get(path);
        if (route && request.method === 'POST') void endpoint.handle(route, request, response);
        else if (route && request.method === 'OPTIONS' && cors) cors.answerPreflight(request, response);
        else next();
      }) satisfies ExpressMiddleware);
      return;
    case 'fastify':
      httpAdapter.getInstance<Fastify>().register((scope, _options, done) => {
        scope.removeAllContentTypeParsers();
        scope.addContentTypeParser('*', (_request, _body, parsed) => parsed(null));
        for (const [path, route] of routes) {
          scope.post(path, (request, reply) => {
            reply.hijack();
            void endpoint.handle(route, request.raw, reply.raw);
          });
          if (!cors) continue;
          scope.options(path, (request, reply) => {
            reply.hijack();
            cors.answerPreflight(request.raw, reply.raw);
          });
        }
        done();
      });
      return;
    default:
      throw new Error(`WebhookDestinationModule: ingest needs Express or Fastify, not ${httpAdapter.getType()}`);
  }
}
