import type { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import type { FastifyInstance } from '../../common/fastify.interface.js';
import { OptionsError } from '../../common/options.error.js';
import { pathOf } from '../ingest/request-target.util.js';
import type { DeletionEndpoint } from './deletion.endpoint.js';
import { httpContext } from './http-context.util.js';

/**
 * Adds `POST` to the path after the application's middleware, so the guard can rely on sessions and the like. The
 * application's global prefix and global guards do not apply.
 */
export function mountDeletion({ httpAdapter }: HttpAdapterHost, path: string, endpoint: DeletionEndpoint): void {
  switch (httpAdapter?.getType()) {
    case undefined: // an application context without HTTP
      return;
    case 'express':
      httpAdapter.post(path, (request: IncomingMessage, response: ServerResponse) =>
        endpoint.handle(request, response, httpContext(request, response)),
      );
      return;
    case 'fastify':
      httpAdapter.getInstance<FastifyInstance>().addHook('preParsing', (request, reply, _payload, next) => {
        if (request.raw.method !== 'POST' || pathOf(request.raw.url) !== path) return next();
        reply.hijack();
        void endpoint.handle(request.raw, reply.raw, httpContext(request, reply));
      });
      return;
    default:
      throw new OptionsError('WebhookDestinationModule', [
        `admin needs Express or Fastify, not ${httpAdapter.getType()}`,
      ]);
  }
}
