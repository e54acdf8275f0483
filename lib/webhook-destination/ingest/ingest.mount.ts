import type { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import type { IngestEndpoint } from './ingest.endpoint.js';
import { ingestRoutes } from './ingest.routes.js';

/** As much of Fastify as is used here; the application may not have it installed. */
interface Fastify {
  addHook(
    name: 'onRequest',
    hook: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): void }, next: () => void) => void,
  ): void;
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

  /** Whether the request is one for the endpoint, which then answers it. */
  const take = (request: IncomingMessage, response: ServerResponse): boolean => {
    const [path = ''] = request.url?.split('?', 1) ?? [];
    const route = routes.get(path);
    if (route && request.method === 'POST') void endpoint.handle(route, request, response);
    else if (route && request.method === 'OPTIONS' && endpoint.cors) endpoint.cors.answerPreflight(request, response);
    else return false;
    return true;
  };

  switch (httpAdapter?.getType()) {
    case undefined: // an application context without HTTP
      return;
    case 'express':
      httpAdapter.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
        if (!take(request, response)) next();
      });
      return;
    case 'fastify':
      httpAdapter.getInstance<Fastify>().addHook('onRequest', (request, reply, next) => {
        if (take(request.raw, reply.raw)) reply.hijack();
        else next();
      });
      return;
    default:
      throw new Error(`WebhookDestinationModule: ingest needs Express or Fastify, not ${httpAdapter.getType()}`);
  }
}
