import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import type { IngestEndpoint } from './ingest.endpoint.js';
import { ingestRoutes } from './ingest.routes.js';

/**
 * Lets the endpoint see a request before the HTTP platform does, and so before the application's body parsers, global
 * prefix, guards and pipes: SDKs post to fixed paths, in sizes and content types of their own, and the host's other
 * routes stay as they are. What does not come through the server, as in a serverless runtime, is left to the routes
 * that Nest knows.
 */
export function mountIngest({ httpAdapter }: HttpAdapterHost, prefix: string, endpoint: IngestEndpoint): void {
  const server = httpAdapter?.getHttpServer() as Server | undefined;
  if (typeof server?.listeners !== 'function') return; // an application without HTTP
  const routes = ingestRoutes(prefix);

  /** Whether the request is one for the endpoint, which then answers it. */
  const take = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { url = '', method } = request;
    const query = url.indexOf('?');
    const route = routes.get(query < 0 ? url : url.slice(0, query));
    if (route === undefined) return false;
    if (method === 'POST') void endpoint.handle(route, request, response);
    else if (method === 'OPTIONS' && endpoint.cors) endpoint.cors.answerPreflight(request, response);
    else return false;
    return true;
  };

  const others = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (take(request, response)) return;
    for (const other of others) other.call(server, request, response);
  });
}
