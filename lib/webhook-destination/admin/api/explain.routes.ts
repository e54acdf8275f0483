import { isPlainObject } from '../../../client/message/message.rules.js';
import { RateLimiter } from '../../http/rate.limiter.js';
import { refuseFields, refuseUntil } from '../../http/request.error.js';
import type { AdminRelay } from './admin-services.interface.js';
import type { ApiRoute } from './api.route.js';

/** Write keys that are checked for callers who may only read: all together, so more sessions make no more guesses. */
const KEYS_CHECKED = { limit: 1, ttl: 1_000 };

/** Route that explains whether a message would be accepted, and where it would go. */
export function explainRoute(relay: AdminRelay): ApiRoute {
  const limiter = new RateLimiter(KEYS_CHECKED);
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
    handle: ({ body, caller }) => {
      // The body may also be the message itself, exactly as a client posts it.
      const { message, source, ...others } = isPlainObject(body.message)
        ? body
        : { message: body, source: body.source };
      refuseFields(others);
      const { writeKey } = message as { writeKey?: unknown };
      if (caller.access === 'read' && source === undefined && writeKey !== undefined) {
        const rule = 'one write key is checked a second for callers who may only read';
        refuseUntil(limiter.count('writeKey'), rule, 'writeKey');
      }
      return relay.explain(message, source as string | undefined);
    },
  };
}
