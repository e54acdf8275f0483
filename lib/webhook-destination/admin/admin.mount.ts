import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionContext } from '@nestjs/common';
import type { HttpAdapterHost, ModuleRef } from '@nestjs/core';

import type { FastifyInstance } from '../../common/fastify.interface.js';
import type { RouteDescription } from '../../common/openapi.util.js';
import { OptionsError } from '../../common/options.error.js';
import { type AdminGate, createAdminGate } from './admin.gate.js';
import type { AdminOptions } from './admin.options.js';
import { probeGate } from './gate-probe.js';
import { httpContext } from './http-context.util.js';

/** Answers an administrative route. */
export interface AdminEndpoint {
  /** Comes before the first request. */
  open(gate: AdminGate): void;
  /**
   * Never rejects.
   *
   * @param context the request as the HTTP platform gives it to guards
   */
  handle(request: IncomingMessage, response: ServerResponse, context: ExecutionContext): Promise<void>;
}

/** An administrative route, with its path from the root. */
export interface AdminRoute {
  name: string;
  method: 'GET' | 'POST';
  path: string;
  endpoint: AdminEndpoint;
  description: RouteDescription;
}

/**
 * Adds the administrative routes, after the application's middleware: its guard may rely on sessions and the like.
 * The application's global prefix and global guards do not apply.
 */
export class AdminMount {
  readonly #options: AdminOptions; // private, because it may contain the token
  private gate: AdminGate | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    readonly routes: [AdminRoute, ...AdminRoute[]],
    options: AdminOptions,
  ) {
    this.#options = options;
  }

  /** Adds the routes. They refuse all requests until {@link open}. */
  async mount(moduleRef: ModuleRef): Promise<void> {
    this.gate = await createAdminGate(this.#options, moduleRef);
    const { httpAdapter } = this.host;
    switch (httpAdapter?.getType()) {
      case undefined: // an application context without HTTP
        return;
      case 'express':
        for (const { method, path, endpoint } of this.routes) {
          const handle = (request: IncomingMessage, response: ServerResponse) =>
            endpoint.handle(request, response, httpContext(request, response));
          if (method === 'GET') httpAdapter.get(path, handle);
          else httpAdapter.post(path, handle);
        }
        return;
      case 'fastify':
        httpAdapter.getInstance<FastifyInstance>().addHook('preParsing', (request, reply, _payload, next) => {
          const { method, url = '' } = request.raw;
          const [path] = url.split('?', 1);
          const route = this.routes.find((candidate) => candidate.method === method && candidate.path === path);
          if (!route) return next();
          reply.hijack();
          void route.endpoint.handle(request.raw, reply.raw, httpContext(request, reply));
        });
        return;
      default:
        throw new OptionsError('WebhookDestinationModule', [
          `admin needs Express or Fastify, not ${httpAdapter.getType()}`,
        ]);
    }
  }

  /**
   * Answers requests from now on. Comes once the application has started, as a guard may rely on what other providers
   * do in `onModuleInit`.
   *
   * @throws {OptionsError} if the guard admits an anonymous request, or does not answer it.
   */
  async open(): Promise<void> {
    await probeGate(this.gate!, this.host.httpAdapter, this.routes[0].path);
    for (const { endpoint } of this.routes) endpoint.open(this.gate!);
  }
}
