import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import type { FastifyHandler, FastifyInstance, FastifyReply, FastifyRequest } from '../../common/fastify.interface.js';
import { processWide } from '../../common/process-wide.util.js';
import { type ContextScope, scopes } from './context-scope.js';

type Register = (...args: unknown[]) => unknown;
type Next = (error?: unknown) => unknown;

/** Adapters whose requests have scopes. */
const mounted = processWide('scoped-adapters', () => new WeakSet<object>());

/** By Node's request. */
const ofRequests = processWide('request-scopes', () => new WeakMap<IncomingMessage, ContextScope>());

/**
 * Opens a scope for each HTTP request, before the application's own middleware, guards and parsers. Middleware may
 * continue in the async context of another request, as in a callback of a connection pool, so the request's scope is
 * entered again before each middleware and each handler, including those of errors.
 */
export function openScopePerRequest(adapterHost: HttpAdapterHost): void {
  // Nest's testing module creates the adapter after the providers.
  if (adapterHost.httpAdapter) mount(adapterHost);
  else adapterHost.init$.subscribe(() => mount(adapterHost));
}

function mount({ httpAdapter }: HttpAdapterHost): void {
  if (!httpAdapter || mounted.has(httpAdapter)) return;
  mounted.add(httpAdapter);
  const platform = httpAdapter.getType();
  if (platform === 'express') {
    mountOnExpress(httpAdapter.getInstance<ExpressApplication>());
  } else if (platform === 'fastify') {
    mountOnFastify(httpAdapter.getInstance<FastifyInstance>());
  }
}

type ExpressApplication = Record<string, Register | undefined> & { use: Register };

function mountOnExpress(app: ExpressApplication): void {
  const { use } = app;
  app.use = function (this: ExpressApplication, ...args) {
    const isForErrors = args.some((handler) => typeof handler === 'function' && handler.length === 4);
    use.call(app, isForErrors ? enterAfterError : enter);
    return use.apply(this, args);
  };
  for (const method of ['all', ...METHODS.map((name) => name.toLowerCase())]) {
    const route = app[method];
    if (!route) continue;
    app[method] = function (this: ExpressApplication, path, ...handlers) {
      return handlers.length === 0 ? route.call(this, path) : route.call(this, path, enter, ...handlers);
    };
  }
}

function mountOnFastify(fastify: FastifyInstance): void {
  // Hooks run in the order in which they were added, and NestFactory loads the middleware engine before any provider
  // exists.
  enterBeforeMiddleware(fastify);
  fastify.addHook('onRegister', enterBeforeMiddleware);
  fastify.addHook('onRequest', (request, reply, next) => runInScopeOf(request.raw, reply.raw, next, request));
  fastify.addHook('onRoute', (route) => {
    route.handler = entering(route.handler);
  });
  for (const name of ['setErrorHandler', 'setNotFoundHandler'] as const) {
    const set = fastify[name];
    fastify[name] = function (this: FastifyInstance, ...args) {
      return set.apply(
        this,
        args.map((arg) => (typeof arg === 'function' ? entering(arg as FastifyHandler) : arg)),
      );
    };
  }
}

/** Returns a handler of Fastify, whose last arguments are the request and the reply, that enters the request's scope. */
function entering(handler: FastifyHandler): FastifyHandler {
  return function (this: unknown, ...args) {
    const [request, reply] = args.slice(-2) as [FastifyRequest, FastifyReply];
    return runInScopeOf(request.raw, reply.raw, () => handler.apply(this, args), request);
  };
}

/** Without any middleware, the engine costs nothing. */
function enterBeforeMiddleware(fastify: FastifyInstance): void {
  const use = Object.prototype.hasOwnProperty.call(fastify, 'use') ? fastify.use : undefined;
  if (!use) return;
  fastify.use = function (this: FastifyInstance, ...args) {
    use.call(fastify, enter);
    return use.apply(this, args);
  };
}

function enter(request: IncomingMessage, response: ServerResponse, next: Next): void {
  runInScopeOf(request, response, () => next());
}

function enterAfterError(error: unknown, request: IncomingMessage, response: ServerResponse, next: Next): void {
  runInScopeOf(request, response, () => next(error));
}

/** Runs a function in the scope of a request, or in the scope within it that is already open. */
function runInScopeOf<T>(
  raw: IncomingMessage,
  response: ServerResponse,
  run: () => T,
  request: IncomingMessage | FastifyRequest = raw,
): T {
  let scope = ofRequests.get(raw);
  if (!scope) {
    scope = { origin: { request, response } };
    ofRequests.set(raw, scope);
    // Reading the address once keeps it known if the client disconnects before its event is recorded. There is no
    // socket in some serverless runtimes.
    void (raw.socket as typeof raw.socket | undefined)?.remoteAddress;
  }
  const origin = scope.origin!;
  if (request !== raw) origin.request = request;
  return scopes.getStore()?.origin === origin ? run() : scopes.run(scope, run);
}
