import type { IncomingMessage, ServerResponse } from 'node:http';

import { Controller, Get, Post, Req, Res, type Type, VERSION_NEUTRAL } from '@nestjs/common';

import type { FastifyReply, FastifyRequest } from './fastify.interface.js';
import { describeRoutes, type RouteDescription } from './openapi.util.js';

/** A request as a controller gets it on Express, or on Fastify. */
type PlatformRequest = IncomingMessage | FastifyRequest;

/** Its response. */
type PlatformResponse = ServerResponse | FastifyReply;

/** Answers a request by Node's own objects; `platform` are those of the HTTP platform. */
export type NodeHandler<Controller> = (
  controller: Controller,
  request: IncomingMessage,
  response: ServerResponse,
  platform: [request: unknown, response: unknown],
) => Promise<void>;

/** A route of a controller. */
interface NodeRoute<Controller> {
  name: string;
  method: 'GET' | 'POST';
  /** Below the global prefix. */
  path: string;
  handle: NodeHandler<Controller>;
  description: RouteDescription;
}

/**
 * Gives a controller its routes, which depend on the options of its module. It must be called before Nest registers the
 * application's routes; a controller without routes serves none.
 */
export async function placeController<T>(controller: Type<T>, routes: NodeRoute<T>[]): Promise<void> {
  Controller({ path: '', version: VERSION_NEUTRAL })(controller);
  const prototype = controller.prototype as object;
  for (const { name, method, path, handle } of routes) {
    const descriptor: PropertyDescriptor = {
      configurable: true, // A module may be started again, as before each test of a suite.
      value: async function (this: T, request: PlatformRequest, response: PlatformResponse) {
        await handle(this, toNodeRequest(request), toNodeResponse(response), [request, response]);
      },
    };
    Object.defineProperty(prototype, name, descriptor);
    (method === 'GET' ? Get : Post)(path)(prototype, name, descriptor);
    Req()(prototype, name, 0);
    Res()(prototype, name, 1);
  }
  await describeRoutes(controller, routes);
}

/** With the body that the platform parsed. */
function toNodeRequest(request: PlatformRequest): IncomingMessage {
  return 'raw' in request ? Object.assign(request.raw, { body: request.body }) : request;
}

/** The platform does not use it any more. */
function toNodeResponse(response: PlatformResponse): ServerResponse {
  if (!('raw' in response)) return response;
  response.hijack();
  return response.raw;
}
