import { refuseFields } from '../../http/request.error.js';
import type { ControllerRoute, Schema } from '../../http/route.controller.js';
import { type DeletionRequest, MAX_USERS } from '../user-deletion.js';
import type { AdminProcess } from './admin-services.interface.js';
import { type ApiRequest, type ApiRoute, changeRoute } from './api.route.js';

const SUMMARY = 'Delete the queued and kept data of a user, and notify the destinations';

const TEXT: Schema = { type: 'string' };
const TEXTS: Schema = { type: 'array', items: TEXT };

/** What the application's OpenAPI document has of `POST /<prefix>/delete`. */
export const DELETION_ROUTE: Omit<ControllerRoute, 'handle' | 'path'> = {
  method: 'POST',
  summary: 'Delete the queued and kept data of users, and notify the destinations of their sources',
  operationId: 'analytics_delete',
  authorization: 'Bearer',
  schema: {
    type: 'object',
    properties: { userId: TEXT, userIds: { ...TEXTS, maxItems: MAX_USERS }, sources: TEXTS },
    description: 'userId or userIds; all sources, unless some are named',
  },
  answers: {
    200: 'The notifications are durably queued',
    400: 'Malformed, or a source is unknown',
    401: 'The admin token is wrong',
    403: 'The guard does not let the caller in, or a page of another origin sent the request',
    415: 'Content-Type is not application/json',
    503: 'The deletion failed',
  },
};

/** Routes that delete the data of one user. */
export function deletionRoutes({ deletion }: Pick<AdminProcess, 'deletion'>): ApiRoute[] {
  const deleteUser = ({ audit }: ApiRequest, userId: string, { sources, ...others }: DeletionRequest) => {
    refuseFields(others);
    return deletion.request({ userId, sources }, audit);
  };
  return [
    changeRoute(
      'DELETE',
      'users/:userId',
      `${SUMMARY}, like POST deletions`,
      (request) => deleteUser(request, request.params.userId!, request.body),
      { type: 'object', properties: { sources: TEXTS } },
    ),
    changeRoute(
      'POST',
      'deletions',
      `${SUMMARY}, like POST /v1/delete; the id may be one that a path cannot contain`,
      (request) => {
        const { userId, ...others } = request.body as DeletionRequest;
        return deleteUser(request, userId!, others);
      },
      { type: 'object', required: ['userId'], properties: { userId: TEXT, sources: TEXTS } },
    ),
    {
      method: 'POST',
      path: 'deletions/preview',
      access: 'read',
      summary: 'Which destinations a deletion would notify; deletes nothing',
      schema: { type: 'object', required: ['userId'], properties: { userId: TEXT, sources: TEXTS } },
      handle: ({ body }) => deletion.preview(body),
    },
  ];
}
