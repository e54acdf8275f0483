import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import type { FastifyInstance } from '../../common/fastify.interface.js';
import { OptionsError } from '../../common/options.error.js';
import type { IngestEndpoint } from './ingest.endpoint.js';
import { ingestRoutes } from './ingest.routes.js';
import { admitRequest } from './pipelining-limit.js';
import { pathOf, singleSlashes } from './request-target.util.js';
import { type SettingsRequest, settingsPaths } from './sdk-settings.js';

/** Prefixes in use in each application. */
const taken = new WeakMap<HttpAdapterHost, Set<string>>();

/**
 * Passes requests to the endpoint before the application's body parsers, global prefix, guards and pipes see them. SDKs
 * post to fixed paths, in their own sizes and content types, and the host's other routes are unaffected.
 */
export class IngestMount {
  private readonly routes: ReturnType<typeof ingestRoutes>;
  private readonly findSettings: ReturnType<typeof settingsPaths>;

  /**
   * @throws {OptionsError} if another module of the application has the prefix: it would receive this module's
   * requests.
   */
  constructor(
    private readonly host: HttpAdapterHost,
    prefix: string,
    readonly endpoint: IngestEndpoint,
  ) {
    const prefixes = taken.get(host) ?? new Set();
    if (prefixes.has(prefix)) {
      throw new OptionsError('WebhookDestinationModule', [
        `ingest.prefix must differ from that of every other module of the application; '${prefix}' is in use. ` +
          'For one relay, call forRoot once: every module can inject its service',
      ]);
    }
    taken.set(host, prefixes.add(prefix));
    this.routes = ingestRoutes(prefix);
    this.findSettings = settingsPaths(prefix);
    this.onExpress();
  }

  /** Called once the queue is open, before the server listens. */
  open(): void {
    this.onFastify();
    this.onServer();
  }

  /**
   * Adds a middleware before Nest adds its body parsers: an Express application may be served by other servers of the
   * host, or by none, as in serverless runtimes.
   */
  private onExpress(): void {
    const mount = () => {
      const { httpAdapter } = this.host;
      if (httpAdapter?.getType() !== 'express') return; // Fastify, or an application without HTTP
      httpAdapter.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
        if (!this.take(request, response)) next();
      });
    };
    // A testing module gets its platform later.
    if (this.host.httpAdapter) mount();
    else this.host.init$.subscribe(mount);
  }

  /**
   * Adds a hook, as in {@link onExpress}: if `localhost` has two addresses, Fastify serves one with a separate server.
   */
  private onFastify(): void {
    if (this.host.httpAdapter?.getType() !== 'fastify') return;
    this.host.httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, next) => {
      if (this.take(request.raw, reply.raw)) reply.hijack();
      else next();
    });
  }

  /**
   * Handles requests before the platform, whose request, reply and routing take a fifth of the time of a single event,
   * and which may have a body parser of the host. Requests that bypass the server, such as Fastify's `inject()`, reach
   * the hook or the middleware.
   */
  private onServer(): void {
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    if (typeof server?.rawListeners !== 'function') return; // an application without HTTP
    const listeners = server.rawListeners('request') as ((
      request: IncomingMessage,
      response: ServerResponse,
    ) => void)[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      if (this.take(request, response)) return;
      for (const listener of listeners) listener.call(server, request, response);
    });
  }

  /** Returns whether the request is for the endpoint, which then answers it. */
  private take(request: IncomingMessage, response: ServerResponse): boolean {
    const path = singleSlashes(pathOf(request.url));
    const route = this.routes.get(path);
    const settings = route === undefined ? this.settingsOf(path) : undefined;
    const { method } = request;
    if (route !== undefined && method === 'POST') void this.endpoint.handle(route, request, response);
    else if (settings && method === 'GET') void this.endpoint.handleSettings(settings.writeKey, request, response);
    else if ((route ?? settings) !== undefined && method === 'OPTIONS' && this.endpoint.cors) {
      if (admitRequest(request, response)) this.endpoint.cors.answerPreflight(request, response);
    } else return false;
    return true;
  }

  /** Returns the request for an SDK's settings that a path is. */
  private settingsOf(path: string): SettingsRequest | undefined {
    const found = this.findSettings(path);
    return found && (found.isBelowPrefix || this.endpoint.sources.find(found.writeKey) !== undefined)
      ? found
      : undefined;
  }
}
