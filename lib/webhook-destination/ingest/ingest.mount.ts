import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import type { FastifyInstance } from '../../common/fastify.interface.js';
import { OptionsError } from '../../common/options.error.js';
import type { IngestEndpoint } from './ingest.endpoint.js';
import { type IngestRoute, ingestRoutes } from './ingest.routes.js';
import { admitRequest } from './pipeline-limit.js';

/** Scheme and authority, which a request's target may begin with (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** The prefixes that are taken in each application. */
const taken = new WeakMap<HttpAdapterHost, Set<string>>();

/**
 * Lets the endpoint see a request before the application does, and so before its body parsers, global prefix, guards
 * and pipes: SDKs post to fixed paths, in sizes and content types of their own, and the host's other routes stay as
 * they are.
 */
export class IngestMount {
  private readonly routes: ReturnType<typeof ingestRoutes>;

  /** @throws {OptionsError} when another module of the application has the prefix: it would take this one's requests. */
  constructor(
    private readonly host: HttpAdapterHost,
    prefix: string,
    readonly endpoint: IngestEndpoint,
  ) {
    const prefixes = taken.get(host) ?? new Set();
    if (prefixes.has(prefix)) {
      throw new OptionsError('WebhookDestinationModule', [
        `ingest.prefix must not be that of another module of the application: '${prefix}'`,
      ]);
    }
    taken.set(host, prefixes.add(prefix));
    this.routes = ingestRoutes(prefix);
    this.onExpress();
  }

  /** Comes once the queue is open, and before the server listens. */
  open(): void {
    this.onFastify();
    this.onServer();
  }

  /**
   * Before Nest adds its body parsers: an Express application may be served by further servers of the host's own, or by
   * none, as in serverless runtimes.
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

  /** As {@link onExpress}; where `localhost` has two addresses, Fastify serves one with a server of its own. */
  private onFastify(): void {
    if (this.host.httpAdapter?.getType() !== 'fastify') return;
    this.host.httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, next) => {
      if (this.take(request.raw, reply.raw)) reply.hijack();
      else next();
    });
  }

  /**
   * Before the platform, whose request, reply and routing take a fifth of the time of a single event, and which a host
   * may have given a body parser of its own. What does not come through the server, such as Fastify's `inject()`, comes
   * through the hook or the middleware.
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

  /** Whether the request is one for the endpoint, which then answers it. */
  private take(request: IncomingMessage, response: ServerResponse): boolean {
    const { method } = request;
    const route = this.find(request.url);
    if (route === undefined) return false;
    if (method === 'POST') void this.endpoint.handle(route, request, response);
    else if (method === 'OPTIONS' && this.endpoint.cors) {
      if (admitRequest(request, response)) this.endpoint.cors.answerPreflight(request, response);
    } else return false;
    return true;
  }

  private find(target = ''): IngestRoute | undefined {
    const url = target.startsWith('/') ? target : target.replace(ORIGIN, '');
    const query = url.indexOf('?');
    return this.routes.get(query < 0 ? url : url.slice(0, query));
  }
}
