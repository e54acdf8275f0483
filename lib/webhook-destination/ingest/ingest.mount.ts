import type { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import { mountOnHttp } from '../../common/http-adapter.util.js';
import type { IngestEndpoint } from './ingest.endpoint.js';
import { ingestRoutes } from './ingest.routes.js';

/**
 * Puts the endpoint before the application's body parsers, global prefix, guards and pipes: SDKs post to fixed paths,
 * in sizes and content types of their own, and the host's other routes stay as they are.
 */
export function mountIngest(adapterHost: HttpAdapterHost, prefix: string, endpoint: IngestEndpoint): void {
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

  mountOnHttp(adapterHost, {
    express: (adapter) =>
      adapter.use((request, response, next) => {
        if (!take(request, response)) next();
      }),
    fastify: (instance) =>
      instance.addHook('onRequest', (request, reply, next) => {
        if (take(request.raw, reply.raw)) reply.hijack();
        else next();
      }),
    other: (platform) => {
      throw new Error(`WebhookDestinationModule: ingest needs Express or Fastify, not ${platform}`);
    },
  });
}
