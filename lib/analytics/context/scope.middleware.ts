import type { HttpAdapterHost } from '@nestjs/core';

import type { FastifyInstance, FastifyRequest } from '../../common/fastify.interface.js';
import { scopes } from './context-scope.js';

interface NodeRequest {
  /** Undefined in some serverless runtimes. */
  socket?: { remoteAddress?: string | undefined };
}

/**
 * Opens a scope for each HTTP request, before the application's own middleware, guards and parsers. Several instances
 * share the scope: the first one opens it.
 */
export function openScopePerRequest(adapterHost: HttpAdapterHost): void {
  // Nest's testing module creates the adapter after the providers.
  if (adapterHost.httpAdapter) mount(adapterHost);
  else adapterHost.init$.subscribe(() => mount(adapterHost));
}

function mount({ httpAdapter }: HttpAdapterHost): void {
  const platform = httpAdapter?.getType();
  if (platform === 'express') {
    httpAdapter.use(openInMiddleware);
  } else if (platform === 'fastify') {
    const fastify = httpAdapter.getInstance<FastifyInstance>();
    // Hooks run in the order in which they were added, and NestFactory loads the middleware engine before any provider
    // exists.
    openBeforeMiddleware(fastify);
    fastify.addHook('onRegister', openBeforeMiddleware);
    fastify.addHook('onRequest', openInHook);
  }
}

/**
 * Opens the scope in a middleware before the application's first one. Without any middleware, the engine then costs
 * nothing.
 */
function openBeforeMiddleware(fastify: FastifyInstance): void {
  const use = Object.prototype.hasOwnProperty.call(fastify, 'use') ? fastify.use : undefined;
  if (!use) return;
  fastify.use = function (this: FastifyInstance, ...args) {
    fastify.use = use;
    use.call(fastify, openInMiddleware);
    return use.apply(this, args);
  };
}

function openInMiddleware(request: NodeRequest, _response: unknown, next: () => void): void {
  open(request, request, next);
}

function openInHook(request: FastifyRequest, _reply: unknown, next: () => void): void {
  const scope = scopes.getStore();
  if (scope?.request === request.raw) scope.request = request;
  open(request, request.raw, next);
}

function open(request: object, { socket }: NodeRequest, next: () => void): void {
  const known = scopes.getStore()?.request;
  if (known && (known === request || known.raw === request)) return next();
  // Reading the address once keeps it known if the client disconnects before its event is recorded.
  void socket?.remoteAddress;
  scopes.run({ request, visitor: {} }, next);
}
