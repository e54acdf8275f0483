import { isPlainObject } from '../../../client/message/message.rules.js';
import { refuseFields } from '../../http/request.error.js';
import type { AdminRelay } from './admin-services.interface.js';
import type { ApiRoute } from './api.route.js';

/** Route that explains whether a message would be accepted, and where it would go. */
export function explainRoute(relay: AdminRelay): ApiRoute {
  return {
    method: 'POST',
    path: 'explain',
    access: 'read',
    summary: 'Whether a message would be accepted, where it would go, and what would be sent; sends nothing',
    schema: {
      type: 'object',
      required: ['message'],
      properties: {
        message: { type: 'object', description: 'as posted, with its type', additionalProperties: true },
        source: {
          type: 'string',
          description: 'name of its source; default: the source of its writeKey, or else the only source',
        },
      },
    },
    handle: ({ body }) => {
      // The body may also be the message itself, exactly as a client posts it.
      const { message, source, ...others } = isPlainObject(body.message)
        ? body
        : { message: body, source: body.source };
      refuseFields(others);
      return relay.explain(message, source as string | undefined);
    },
  };
}
