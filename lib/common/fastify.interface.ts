import type { IncomingMessage, ServerResponse } from 'node:http';

/** The part of a Fastify application that is used; the package may not be installed. */
export interface FastifyInstance {
  addHook(name: 'onRequest', hook: (request: FastifyRequest, reply: FastifyReply, next: () => void) => void): void;
  addHook(
    name: 'preParsing',
    hook: (request: FastifyRequest, reply: FastifyReply, payload: unknown, next: () => void) => void,
  ): void;
  addHook(name: 'onRegister', hook: (instance: FastifyInstance) => void): void;
  addHook(name: 'onRoute', hook: (route: { handler: FastifyHandler }) => void): void;
  /** The last argument of both is the handler. */
  setErrorHandler: (...args: unknown[]) => unknown;
  setNotFoundHandler: (...args: unknown[]) => unknown;
  hasRoute(route: { method: string; url: string }): boolean;
  /** Adds middleware. Present once a middleware engine is loaded; each encapsulated instance has its own. */
  use?: (...args: unknown[]) => unknown;
}

/** A handler of a route, of errors or of unknown paths. The request and the reply are its last arguments. */
export type FastifyHandler = (this: unknown, ...args: unknown[]) => unknown;

export interface FastifyRequest {
  raw: IncomingMessage;
  /** The body, as the platform parsed it. */
  body?: unknown;
}

export interface FastifyReply {
  raw: ServerResponse;
  /** Leaves the response to the caller. */
  hijack(): void;
}
