import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';

import type { FastifyInstance } from '../../../common/fastify.interface.js';
import { OptionsError } from '../../../common/options.error.js';
import type { DashboardEndpoint } from '../dashboard/dashboard.endpoint.js';
import { httpContext } from '../http-context.util.js';
import type { ApiEndpoint } from './api.endpoint.js';

/** Where the dashboard is, without slashes around it. */
const DASHBOARD_PATH = 'relay';

/** Where the API is, without slashes around it. */
export const API_PATH = `${DASHBOARD_PATH}/api`;

/** Scheme and authority, which a request's target may begin with (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** Applications in which a module has the API. */
const taken = new WeakSet<HttpAdapterHost>();

/** A request's endpoint, and what it is asked for. */
interface Found {
  endpoint: Pick<ApiEndpoint, 'handle'>;
  target: string;
}

/**
 * Answers the API and the dashboard before Nest's router does: after what the application has added with `app.use`, so
 * its guard may rely on sessions, and without its global guards, as both are let in to by their own gate. They are below
 * the global prefix as well, where there is one.
 */
export class ApiMount {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: ApplicationConfig,
    private readonly api: ApiEndpoint,
    private readonly dashboard: DashboardEndpoint,
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
    const bases = [`/${DASHBOARD_PATH}`, joinPath(this.config.getGlobalPrefix(), DASHBOARD_PATH)];
    if (httpAdapter.getType() === 'express') {
      httpAdapter.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
        const found = this.find(request.url, bases);
        if (!found) return next();
        void found.endpoint.handle(found.target, request, response, httpContext(request, response));
      });
    } else if (httpAdapter.getType() === 'fastify') {
      httpAdapter.getInstance<FastifyInstance>().addHook('preParsing', (request, reply, _payload, next) => {
        const found = this.find(request.raw.url, bases);
        if (!found) return next();
        reply.hijack();
        void found.endpoint.handle(found.target, request.raw, reply.raw, httpContext(request, reply));
      });
    }
  }

  private find(url: string | undefined, bases: string[]): Found | undefined {
    const rest = below(url, bases);
    if (rest === undefined) return undefined;
    const target = toTarget(rest, ['/api']);
    if (target !== undefined) return { endpoint: this.api, target };
    const [path = ''] = rest.split('?', 1);
    const isOurs = path === '' || path === '/' || path.startsWith('/assets/'); // others may be the application's
    return isOurs ? { endpoint: this.dashboard, target: path } : undefined;
  }
}

/** Path below one of the bases, and query; undefined for another path. */
export function toTarget(url: string | undefined, bases: string[]): string | undefined {
  return below(url, bases)?.replace(/^\//, '');
}

/** What follows one of the bases, with the query; undefined for another path. */
function below(url = '', bases: string[]): string | undefined {
  const whole = url.startsWith('/') ? url : url.replace(ORIGIN, '');
  const [path = ''] = whole.split('?', 1);
  const base = bases.find((candidate) => path === candidate || path.startsWith(`${candidate}/`));
  return base === undefined ? undefined : whole.slice(base.length);
}

function joinPath(...parts: string[]): string {
  return `/${parts
    .map((part) => part.replace(/^\/+|\/+$/g, ''))
    .filter((part) => part !== '')
    .join('/')}`;
}
