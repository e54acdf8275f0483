import { Controller, Inject, type Type } from '@nestjs/common';

import type { RouteDescription, Schema } from '../../common/openapi.util.js';
import { type NodeHandler, placeController } from '../../common/platform.controller.js';
import { DeletionEndpoint } from './deletion.endpoint.js';
import { MAX_USERS } from './deletion.request.js';
import { httpContext } from './http-context.util.js';

interface AdminRoutes {
  endpoint: DeletionEndpoint | undefined;
}

const names: Schema = { type: 'array', items: { type: 'string' } };

const DELETE_DESCRIPTION: RouteDescription = {
  summary: 'Delete what is queued and kept of users, and notify the destinations of their sources',
  operationId: 'analytics_delete',
  authorization: 'Bearer',
  schema: {
    type: 'object',
    properties: { userId: { type: 'string' }, userIds: { ...names, maxItems: MAX_USERS }, sources: names },
    description: 'userId or userIds; all sources, unless some are named',
  },
  answers: {
    200: 'The notifications are in the queue, durably',
    400: 'Malformed, or a source is unknown',
    401: 'The admin token is wrong',
    403: 'The guard does not let the caller in, or a page of another site sent the request',
    415: 'Content-Type is not application/json',
    503: 'The deletion was not done',
  },
};

/**
 * The admin routes in Nest's router, under the application's global prefix, and in its OpenAPI document.
 * Without a global prefix, requests are answered before they reach it. Each module has its own class.
 */
export function createAdminController(): Type<AdminRoutes> {
  @Controller()
  class AdminController {
    constructor(@Inject(DeletionEndpoint) readonly endpoint: DeletionEndpoint | undefined) {}
  }
  return AdminController;
}

/** Gives the controller its routes. */
export async function placeAdminController(controller: Type<AdminRoutes>, prefix: string): Promise<void> {
  const handle: NodeHandler<AdminRoutes> = ({ endpoint }, request, response, platform) =>
    endpoint!.handle(request, response, () => httpContext(...platform));
  await placeController(controller, prefix, [
    { name: 'delete', path: 'delete', handle, description: DELETE_DESCRIPTION },
  ]);
}
