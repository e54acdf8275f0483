import type { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpAdapterHost, ModuleRef } from '@nestjs/core';

import type { FastifyInstance } from '../../common/fastify.interface.js';
import { OptionsError } from '../../common/options.error.js';
import type { AdminGate } from './admin.gate.js';
import type { DeletionEndpoint } from './deletion.endpoint.js';
import { probeGate } from './gate-probe.js';
import { httpContext } from './http-context.util.js';

/**
 * Adds `POST /<prefix>/delete` after the application's middleware, so the guard can rely on sessions and the like.
 * The application's global prefix and global guards do not apply.
 */
export class AdminMount {
  private readonly path: string;

  constructor(
    private readonly host: HttpAdapterHost,
    prefix: string,
    readonly endpoint: DeletionEndpoint,
    private readonly gate: AdminGate,
  ) {
    this.path = `/${prefix}/delete`;
  }

  /** Adds the route. It refuses all requests until {@link open}. */
  async mount(moduleRef: ModuleRef): Promise<void> {
    await this.gate.prepare(moduleRef);
    const { httpAdapter } = this.host;
    const { path, endpoint } = this;
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
          const { method, url = '' } = request.raw;
          if (method !== 'POST' || url.split('?', 1)[0] !== path) return next();
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

  /**
   * Accepts requests from now on. Called once the application has started, because a guard may depend on the
   * `onModuleInit` of other providers.
   *
   * @throws {OptionsError} if the guard admits an anonymous request or does not answer it.
   */
  async open(): Promise<void> {
    await probeGate(this.gate, this.host.httpAdapter, this.path);
    this.gate.open();
  }
}
