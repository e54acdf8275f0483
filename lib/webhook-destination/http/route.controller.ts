import type { IncomingMessage, ServerResponse } from 'node:http';

import { Controller, Delete, Get, Patch, Post, Req, Res, type Type, VERSION_NEUTRAL } from '@nestjs/common';

import type { FastifyReply, FastifyRequest } from '../../common/fastify.interface.js';
import type { PlatformPair } from './http.mount.js';

type PlatformRequest = IncomingMessage | FastifyRequest;
type PlatformResponse = ServerResponse | FastifyReply;

const METHODS = { GET: Get, POST: Post, PATCH: Patch, DELETE: Delete };

/** The part of an OpenAPI schema that is used here. */
export interface Schema {
  type?: 'string' | 'integer' | 'boolean' | 'array' | 'object';
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  format?: string;
  maxLength?: number;
  maxItems?: number;
  additionalProperties?: boolean;
  enum?: string[];
  nullable?: boolean;
  description?: string;
}

/** A route of a controller, with its description for the application's OpenAPI document. */
export interface ControllerRoute {
  method: keyof typeof METHODS;
  /** The whole path; a part that begins with a colon is a parameter. */
  path: string;
  /** Answers a request through Node's own objects; `platform` contains those of the HTTP platform. */
  handle: (request: IncomingMessage, response: ServerResponse, platform: PlatformPair) => Promise<void>;
  summary: string;
  operationId: string;
  /** Undefined for a public route. */
  authorization?: 'Basic' | 'Bearer' | undefined;
  /** Schema of the body; undefined if the route takes none. */
  schema?: Schema | undefined;
  /** Descriptions of the query fields, by name. */
  query?: Record<string, string> | undefined;
  /** Descriptions of the responses, by status. */
  answers: Record<number, string>;
  /** Schema of the body of the response with status 200. */
  answer?: Schema | undefined;
}

/** A controller whose routes depend on the options of its module; each instance has the handlers of its application. */
export type RouteController = Type<{ readonly routes: ControllerRoute[] }>;

/**
 * Adds routes to a controller. Must be called before Nest registers the application's routes. A controller without
 * routes serves none.
 */
export async function placeController(controller: RouteController, routes: ControllerRoute[]): Promise<void> {
  Controller({ version: VERSION_NEUTRAL })(controller);
  const describe = await loadDescriber(controller);
  const prototype = controller.prototype as object;
  for (const [index, route] of routes.entries()) {
    const name = nameOf(route);
    const descriptor: PropertyDescriptor = {
      configurable: true, // A module may be started again, for example before each test of a suite.
      value: async function (
        this: InstanceType<RouteController>,
        request: PlatformRequest,
        response: PlatformResponse,
      ) {
        await this.routes[index]!.handle(toNodeRequest(request), toNodeResponse(response), [request, response]);
      },
    };
    Object.defineProperty(prototype, name, descriptor);
    METHODS[route.method](route.path)(prototype, name, descriptor);
    Req()(prototype, name, 0);
    Res()(prototype, name, 1);
    for (const decorate of describe(route)) decorate(prototype, name, descriptor);
  }
}

/**
 * Takes routes from a controller, so that Nest does not register them, and logs no line for each. Returns a function that
 * puts them back, because the application's OpenAPI document has them.
 */
export function withdrawRoutes(controller: RouteController, routes: ControllerRoute[]): () => void {
  const prototype = controller.prototype as object;
  const names = routes.map(nameOf);
  const withdrawn = names.map((name) => [name, Object.getOwnPropertyDescriptor(prototype, name)!] as const);
  for (const name of names) Reflect.deleteProperty(prototype, name);
  return () => void Object.defineProperties(prototype, Object.fromEntries(withdrawn));
}

const nameOf = ({ method, path }: ControllerRoute): string => `${method} ${path}`;

/** Returns what makes the decorators of a route; they are none if the application does not have `@nestjs/swagger`. */
async function loadDescriber(controller: Type): Promise<(route: ControllerRoute) => MethodDecorator[]> {
  let swagger: typeof import('@nestjs/swagger');
  try {
    swagger = await import('@nestjs/swagger');
  } catch {
    return () => [];
  }
  const { ApiBasicAuth, ApiBearerAuth, ApiBody, ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } = swagger;
  ApiTags('analytics')(controller);
  return ({ path, summary, operationId, authorization, schema, query = {}, answers, answer }) => [
    ApiOperation({ summary, operationId }),
    ...(authorization ? [authorization === 'Basic' ? ApiBasicAuth() : ApiBearerAuth()] : []),
    ...(schema ? [ApiBody({ schema })] : []),
    ...[...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ApiParam({ name, description: name })),
    ...Object.entries(query).map(([name, description]) =>
      ApiQuery({ name, description, required: false, type: String }),
    ),
    ...Object.entries(answers).map(([status, description]) =>
      ApiResponse({ status: Number(status), description, ...(answer && status === '200' && { schema: answer }) }),
    ),
  ];
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
