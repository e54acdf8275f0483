import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';

import type { FastifyInstance } from '../../../common/fastify.interface.js';
import { OptionsError } from '../../../common/options.error.js';
import { httpContext } from '../http-context.util.js';
import type { ApiEndpoint } from './api.endpoint.js';

/** Where the API is, without slashes around it. */
export const API_PATH = 'relay/api';

/** Scheme and authority, which a request's target may begin with (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** Applications in which a module has the API. */
const taken = new WeakSet<HttpAdapterHost>();

/**
 * Answers the API before Nest's router does: after what the application has added with `app.use`, so its guard may rely
 * on sessions, and without its global guards, as the API is let in to by its own gate. It is below the global prefix as
 * well, where there is one.
 */
export class ApiMount {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: ApplicationConfig,
    private readonly endpoint: ApiEndpoint,
  ) {}

  /**
   * Comes before Nest registers its routes.
   * @throws {OptionsError} when another module of the application has the API
   */
  mount(): void {
    if (taken.has(this.host)) {
      throw new OptionsError('WebhookDestinationModule', [
        `admin must be set in one module of the application only: /${API_PATH} is that of one`,
      ]);
    }
    taken.add(this.host);
    const { httpAdapter } = this.host;
    const bases = [`/${API_PATH}`, joinPath(this.config.getGlobalPrefix(), API_PATH)];
    if (httpAdapter.getType() === 'express') {
      httpAdapter.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
        const target = toTarget(request.url, bases);
        if (target === undefined) return next();
        void this.endpoint.handle(target, request, response, httpContext(request, response));
      });
    } else if (httpAdapter.getType() === 'fastify') {
      httpAdapter.getInstance<FastifyInstance>().addHook('preParsing', (request, reply, _payload, next) => {
        const target = toTarget(request.raw.url, bases);
        if (target === undefined) return next();
        reply.hijack();
        void this.endpoint.handle(target, request.raw, reply.raw, httpContext(request, reply));
      });
    }
  }
}

/** Path below one of the bases, and query; undefined for another path. */
export function toTarget(url = '', bases: string[]): string | undefined {
  const whole = url.startsWith('/') ? url : url.replace(ORIGIN, '');
  const [path = ''] = whole.split('?', 1);
  const base = bases.find((candidate) => path === candidate || path.startsWith(`${candidate}/`));
  return base === undefined ? undefined : whole.slice(base.length).replace(/^\//, '');
}

function joinPath(...parts: string[]): string {
  return `/${parts
    .map((part) => part.replace(/^\/+|\/+$/g, ''))
    .filter((part) => part !== '')
    .join('/')}`;
}
