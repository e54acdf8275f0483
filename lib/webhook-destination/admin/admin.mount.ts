import type { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import { DeletionEndpoint } from './deletion.endpoint.js';
import { HttpContext } from './http.context.js';

/** As much of Fastify as is used here; the application may not have it installed. */
interface Fastify {
  addHook(
    name: 'preParsing',
    hook: (
      request: { raw: IncomingMessage },
      reply: { raw: ServerResponse; hijack(): void },
      payload: unknown,
      next: () => void,
    ) => void,
  ): void;
}

/** Where the route is, by the prefix of the relay's routes. */
export function deletionPath(prefix: string): string {
  return `/${prefix}/delete`;
}

/**
 * Adds `POST /<prefix>/delete`, after the application's middleware: its guard may rely on sessions and the like.
 * The application's global prefix and global guards do not apply.
 */
export function mountDeletion({ httpAdapter }: HttpAdapterHost, prefix: string, endpoint: DeletionEndpoint): void {
  const path = deletionPath(prefix);
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
      httpAdapter.getInstance<Fastify>().addHook('preParsing', (request, reply, _payload, next) => {
        const { method, url = '' } = request.raw;
        if (method !== 'POST' || url.split('?', 1)[0] !== path) return next();
        reply.hijack();
        void endpoint.handle(request.raw, reply.raw, contextOf(request, reply));
      });
      return;
    default:
      throw new Error(`WebhookDestinationModule: admin needs Express or Fastify, not ${httpAdapter.getType()}`);
  }
}
