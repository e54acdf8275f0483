import type { IncomingMessage, ServerResponse } from 'node:http';

import { Controller, Delete, Get, Patch, Post, Req, Res, type Type, VERSION_NEUTRAL } from '@nestjs/common';

import type { FastifyReply, FastifyRequest } from '../common/fastify.interface.js';
import { describeRoutes, type RouteDescription } from './openapi.util.js';

type PlatformRequest = IncomingMessage | FastifyRequest;
type PlatformResponse = ServerResponse | FastifyReply;

/** Answers a request through Node's own objects; `platform` contains those of the HTTP platform. */
export type NodeHandler<Controller> = (
  controller: Controller,
  request: IncomingMessage,
  response: ServerResponse,
  platform: [request: unknown, response: unknown],
) => Promise<void>;

const METHODS = { GET: Get, POST: Post, PATCH: Patch, DELETE: Delete };

export interface NodeRoute<Controller> {
  name: string;
  method: keyof typeof METHODS;
  /** The whole path, without a leading slash. */
  path: string;
  handle: NodeHandler<Controller>;
  description: RouteDescription;
}

/**
 * Adds routes to a controller, which depend on the options of its module. Must be called before Nest registers the
 * application's routes. A controller without routes serves none.
 */
export async function placeController<T>(controller: Type<T>, routes: NodeRoute<T>[]): Promise<void> {
  Controller({ version: VERSION_NEUTRAL })(controller);
  const prototype = controller.prototype as object;
  for (const { name, method, path, handle } of routes) {
    const descriptor: PropertyDescriptor = {
      configurable: true, // A module may be started again, for example before each test of a suite.
      value: async function (this: T, request: PlatformRequest, response: PlatformResponse) {
        await handle(this, toNodeRequest(request), toNodeResponse(response), [request, response]);
      },
    };
    Object.defineProperty(prototype, name, descriptor);
    METHODS[method](path)(prototype, name, descriptor);
    Req()(prototype, name, 0);
    Res()(prototype, name, 1);
  }
  await describeRoutes(controller, routes);
}

/** Returns Node's request, with the body that the platform parsed. */
function toNodeRequest(request: PlatformRequest): IncomingMessage {
  return 'raw' in request ? Object.assign(request.raw, { body: request.body }) : request;
}

/** Returns Node's response, which the platform then leaves alone. */
function toNodeResponse(response: PlatformResponse): ServerResponse {
  if (!('raw' in response)) return response;
  response.hijack();
  // If an interceptor gives up on the request, Nest ends the response with this status: it must not look like success.
  response.raw.statusCode = 503;
  return response.raw;
}
