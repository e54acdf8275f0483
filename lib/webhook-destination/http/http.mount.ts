import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';

import type { FastifyInstance } from '../../common/fastify.interface.js';

/** Scheme and authority, which a request's target may begin with (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** Paths that the modules of each application have claimed. */
const claimed = new WeakMap<HttpAdapterHost, Set<string>>();

/** Request and response as the HTTP platform passes them to guards. */
export type PlatformPair = [request: unknown, response: unknown];

/** Answers requests ahead of the application's own routes. */
export interface RequestHandler<Found> {
  /** Returns what the request is for; undefined if it is for the application. */
  find(request: IncomingMessage): Found | undefined;
  handle(found: Found, request: IncomingMessage, response: ServerResponse, platform: PlatformPair): unknown;
}

/**
 * Passes requests to a handler before the application's router, global prefix, global guards and pipes see them. The
 * handler comes after everything that was added to the platform earlier.
 */
export class HttpMount<Found> {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly handler: RequestHandler<Found>,
  ) {}

  /**
   * Adds a middleware: an Express application may be served by other servers of the host, or by none, as in serverless
   * runtimes.
   */
  onExpress(): void {
    const mount = () => {
      const { httpAdapter } = this.host;
      if (httpAdapter?.getType() !== 'express') return; // Fastify, or an application without HTTP
      httpAdapter.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
        const found = this.handler.find(request);
        if (found === undefined) next();
        else this.handler.handle(found, request, response, [request, response]);
      });
    };
    // A testing module gets its platform later.
    if (this.host.httpAdapter) mount();
    else this.host.init$.subscribe(mount);
  }

  /** Adds a hook, as in {@link onExpress}: if `localhost` has two addresses, Fastify serves one with another server. */
  onFastify(name: 'onRequest' | 'preParsing'): void {
    if (this.host.httpAdapter?.getType() !== 'fastify') return;
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook(name as 'preParsing', (request, reply, ...rest) => {
      const found = this.handler.find(request.raw);
      if (found === undefined) {
        (rest.at(-1) as () => void)();
        return;
      }
      reply.hijack();
      this.handler.handle(found, request.raw, reply.raw, [request, reply]);
    });
  }

  /**
   * Handles requests before the platform, whose request, reply and routing take a fifth of the time of a single event,
   * and which may have a body parser of the host. Requests that bypass the server, such as Fastify's `inject()`, reach
   * the hook or the middleware.
   */
  onServer(): void {
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    if (typeof server?.rawListeners !== 'function') return; // an application without HTTP
    const listeners = server.rawListeners('request') as ((
      request: IncomingMessage,
      response: ServerResponse,
    ) => void)[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      const found = this.handler.find(request);
      if (found !== undefined) this.handler.handle(found, request, response, [request, response]);
      else for (const listener of listeners) listener.call(server, request, response);
    });
  }
}

/** Claims a path for a module. Returns whether no other module of the application has it. */
export function claimPath(host: HttpAdapterHost, path: string): boolean {
  const paths = claimed.get(host) ?? new Set();
  claimed.set(host, paths);
  return paths.size < paths.add(path).size;
}

/** Returns the path and query of a request's target. */
export function withoutOrigin(target = ''): string {
  return target.startsWith('/') ? target : target.replace(ORIGIN, '');
}

/** Returns the path of a request's target. */
export function pathOf(target: string | undefined): string {
  const whole = withoutOrigin(target);
  const query = whole.indexOf('?');
  return query < 0 ? whole : whole.slice(0, query);
}

/** Replaces repeated slashes of a path, which SDKs send if a host with a slash at its end is configured. */
export function singleSlashes(path: string): string {
  return path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
}

/** Answers a request. */
export type Answerer = (request: IncomingMessage, response: ServerResponse, platform: PlatformPair) => Promise<void>;

/**
 * Answers requests ahead of Nest's router, and after the application's `app.use` middleware. Called before Nest registers
 * its routes.
 *
 * @param find returns what answers a request; undefined if it is for the application
 */
export function serveBeforeRoutes(
  host: HttpAdapterHost,
  find: (request: IncomingMessage) => Answerer | undefined,
): void {
  const mount = new HttpMount<Answerer>(host, {
    find,
    handle: (answer, request, response, platform) => answer(request, response, platform),
  });
  mount.onExpress();
  mount.onFastify('preParsing');
}

/** Returns a path, and the same path below the application's global prefix if there is one. */
export function withGlobalPrefix(path: string, globalPrefix: string): string[] {
  const prefix = globalPrefix.replace(/^\/+|\/+$/g, '');
  return [path, ...(prefix === '' ? [] : [`/${prefix}${path}`])];
}

/** Returns the part of a request's target after one of the paths, with the query; undefined for any other path. */
export function below(url: string | undefined, bases: readonly string[]): string | undefined {
  const whole = withoutOrigin(url);
  const path = pathOf(whole);
  const base = bases.find((candidate) => path === candidate || path.startsWith(`${candidate}/`));
  return base === undefined ? undefined : whole.slice(base.length);
}
