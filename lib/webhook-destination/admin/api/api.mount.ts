import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';

import type { FastifyInstance } from '../../../common/fastify.interface.js';
import { OptionsError } from '../../../common/options.error.js';
import { pathOf, withoutOrigin } from '../../ingest/request-target.util.js';
import type { DashboardEndpoint } from '../dashboard/dashboard.endpoint.js';
import { httpContext } from '../http-context.util.js';
import type { ApiEndpoint } from './api.endpoint.js';

/** Path of the dashboard, without slashes around it. */
const DASHBOARD_PATH = 'relay';

/** Path of the API, without slashes around it. */
export const API_PATH = `${DASHBOARD_PATH}/api`;

/** Applications in which a module has already mounted the API. */
const taken = new WeakSet<HttpAdapterHost>();

/**
 * Serves the API and the dashboard ahead of Nest's router. They come after the application's `app.use` middleware, so
 * the guard can rely on sessions. Global guards do not run: the gate authenticates each request. If there is a global
 * prefix, both are also served below it. Called before Nest registers its routes.
 *
 * @throws {OptionsError} if another module of the application has already mounted the API
 */
export function mountApi(
  host: HttpAdapterHost,
  config: ApplicationConfig,
  api: ApiEndpoint,
  dashboard: DashboardEndpoint,
): void {
  if (taken.has(host)) {
    throw new OptionsError('WebhookDestinationModule', [
      `admin must be set in only one module of the application: another module already has /${API_PATH}`,
    ]);
  }
  taken.add(host);
  const prefix = config.getGlobalPrefix().replace(/^\/+|\/+$/g, '');
  const bases = [`/${DASHBOARD_PATH}`, ...(prefix === '' ? [] : [`/${prefix}/${DASHBOARD_PATH}`])];
  /** Returns the endpoint of a URL, and the target below its base. */
  const find = (url: string | undefined) => {
    const rest = below(url, bases);
    if (rest === undefined) return undefined;
    const target = below(rest, ['/api']);
    if (target !== undefined) return { endpoint: api, target: target.replace(/^\//, '') };
    const path = pathOf(rest);
    const isOurs = path === '' || path === '/' || path.startsWith('/assets/'); // others may be the application's own
    return isOurs ? { endpoint: dashboard, target: path } : undefined;
  };
  const { httpAdapter } = host;
  if (httpAdapter.getType() === 'express') {
    httpAdapter.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
      const found = find(request.url);
      if (!found) return next();
      void found.endpoint.handle(found.target, request, response, httpContext(request, response));
    });
  } else if (httpAdapter.getType() === 'fastify') {
    httpAdapter.getInstance<FastifyInstance>().addHook('preParsing', (request, reply, _payload, next) => {
      const found = find(request.raw.url);
      if (!found) return next();
      reply.hijack();
      void found.endpoint.handle(found.target, request.raw, reply.raw, httpContext(request, reply));
    });
  }
}

/** Returns the part of the URL after one of the bases, with the query; undefined for any other path. */
function below(url: string | undefined, bases: string[]): string | undefined {
  const whole = withoutOrigin(url);
  const path = pathOf(whole);
  const base = bases.find((candidate) => path === candidate || path.startsWith(`${candidate}/`));
  return base === undefined ? undefined : whole.slice(base.length);
}
