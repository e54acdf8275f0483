import type { RouteDescription, Schema } from '../openapi.util.js';
import { MAX_USERS } from './deletion-request.js';

const names: Schema = { type: 'array', items: { type: 'string' } };

/** Description of `POST /v1/delete` for the application's OpenAPI document. */
export const DELETION_DESCRIPTION: RouteDescription = {
  summary: 'Delete the queued and kept data of users, and notify the destinations of their sources',
  operationId: 'analytics_delete',
  authorization: 'Bearer',
  schema: {
    type: 'object',
    properties: { userId: { type: 'string' }, userIds: { ...names, maxItems: MAX_USERS }, sources: names },
    description: 'userId or userIds; all sources, unless some are named',
  },
  answers: {
    200: 'The notifications are durably queued',
    400: 'Malformed, or a source is unknown',
    401: 'The admin token is wrong',
    403: 'The guard does not let the caller in, or a page of another site sent the request',
    415: 'Content-Type is not application/json',
    503: 'The deletion failed',
  },
};
