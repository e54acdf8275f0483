import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { HttpAdapterHost } from '@nestjs/core';

import { type BrokenRequest, openResponse, refuseAsNode, refuseBroken, requestLine } from './broken.request.js';
import { IngestError } from './ingest.error.js';
import type { IngestEndpoint } from './ingest.endpoint.js';
import { type IngestRoute, ingestRoutes } from './ingest.routes.js';
import { answerError } from './json.answer.js';
import { admitRequest } from './pipeline.limit.js';

/** As much of Fastify as is used here; the application may not have it installed. */
interface Fastify {
  addHook(
    name: 'onRequest',
    hook: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): void }, next: () => void) => void,
  ): void;
}

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

  /** @throws {Error} when another module of the application has the prefix: it would take this one's requests. */
  constructor(
    private readonly host: HttpAdapterHost,
    prefix: string,
    private readonly endpoint: IngestEndpoint,
  ) {
    const prefixes = taken.get(host) ?? new Set();
    if (prefixes.has(prefix)) {
      throw new Error(
        `WebhookDestinationModule: ingest.prefix must not be that of another module of the application: '${prefix}'`,
      );
    }
    taken.set(host, prefixes.add(prefix));
    this.routes = ingestRoutes(prefix);
  }

  /**
   * To be called before Nest adds its body parsers: an Express application may be served by further servers of the
   * host's own, or by none, as in serverless runtimes.
   */
  onExpress(): void {
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
  onFastify(): void {
    if (this.host.httpAdapter?.getType() !== 'fastify') return;
    this.host.httpAdapter.getInstance<Fastify>().addHook('onRequest', (request, reply, next) => {
      if (this.take(request.raw, reply.raw)) reply.hijack();
      else next();
    });
  }

  /** Before the platform, whose own request, reply and routing cost as much as taking a batch does. */
  onServer(): void {
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    if (typeof server?.listeners !== 'function') return; // an application without HTTP
    const others = takeOver(server, 'request');
    server.on('request', (request, response) => {
      if (this.take(request, response)) return;
      for (const other of others) other.call(server, request, response);
    });
    const othersOfExpecting = takeOver(server, 'checkExpectation');
    server.on('checkExpectation', (request, response) => {
      if (this.takeExpecting(request, response)) return;
      if (othersOfExpecting.length === 0) response.writeHead(417).end(); // as Node does
      for (const other of othersOfExpecting) other.call(server, request, response);
    });
    const othersOfBroken = takeOver(server, 'clientError');
    server.on('clientError', (error: BrokenRequest, socket) => {
      if (this.takeBroken(error, socket as Socket)) return;
      if (othersOfBroken.length === 0) refuseAsNode(error, socket as Socket);
      for (const other of othersOfBroken) other.call(server, error, socket);
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

  /** Whether a request that expects what HTTP does not know was for the endpoint, and so is refused as it refuses. */
  private takeExpecting(request: IncomingMessage, response: ServerResponse): boolean {
    if (!this.isPost(request)) return false;
    if (!admitRequest(request, response)) return true;
    answerError(
      request,
      response,
      new IngestError(417, 'expectation_unknown', 'Expect must be 100-continue or absent', 'Expect'),
    );
    return true;
  }

  /** Whether what is not valid HTTP was meant for the endpoint, and so is refused as it refuses. */
  private takeBroken(error: BrokenRequest, socket: Socket): boolean {
    if (!this.isPost(openResponse(socket)?.req ?? requestLine(error))) return false;
    refuseBroken(error, socket);
    return true;
  }

  private isPost({ method, url }: { method?: string | undefined; url?: string | undefined }): boolean {
    return method === 'POST' && this.find(url) !== undefined;
  }

  private find(target = ''): IngestRoute | undefined {
    const url = target.startsWith('/') ? target : target.replace(ORIGIN, '');
    const query = url.indexOf('?');
    return this.routes.get(query < 0 ? url : url.slice(0, query));
  }
}

/** Removes the listeners of an event, for the caller to call where it does not take the event itself. */
function takeOver(server: Server, event: 'request' | 'checkExpectation' | 'clientError') {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return listeners;
}
