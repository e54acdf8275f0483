import type { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import { DeletionEndpoint } from './deletion.endpoint.js';
import { HttpContext } from './http.context.js';

/** As much of Fastify as is used here; the application may not have it installed. */
interface Fastify {
  register(plugin: (scope: FastifyScope, options: unknown, done: () => void) => void): void;
}
interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parse: (request: unknown, body: unknown, done: (error: null) => void) => void,
  ): void;
  post(
    path: string,
    handle: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): void }) => void,
  ): void;
}

/**
 * Adds `POST /<prefix>/delete`, after the application's middleware: its guard may rely on sessions and the like.
 * The application's global prefix and global guards do not apply.
 */
export function mountDeletion({ httpAdapter }: HttpAdapterHost, prefix: string, endpoint: DeletionEndpoint): void {
  const path = `/${prefix}/delete`;
  const contextOf = (request: unknown, response: unknown) => () =>
    new HttpContext(DeletionEndpoint, [request, response]);
  switch (httpAdapter?.getType()) {
    case undefined: // an application context without HTTP
      return;
    case 'express':
      httpAdapter.post(path, (request: IncomingMessage, response: ServerResponse) =>
        endpoint.handle(request, response, contextOf(request, response)),
      );
      return;
    case 'fastify':
      httpAdapter.getInstance<Fastify>().register((scope, _options, done) => {
        scope.removeAllContentTypeParsers();
        scope.addContentTypeParser('*', (_request, _body, parsed) => parsed(null));
        scope.post(path, (request, reply) => {
          reply.hijack();
          void endpoint.handle(request.raw, reply.raw, contextOf(request, reply));
        });
        done();
      });
      return;
    default:
      throw new Error(`WebhookDestinationModule: admin needs Express or Fastify, not ${httpAdapter.getType()}`);
  }
}
