import { PAGE_FIELDS } from '../../http/query.reader.js';
import { RequestError } from '../../http/request.error.js';
import { isLogId } from '../../queue/log-store.interface.js';
import type { ActivityQuery } from '../activity/activity.entry.js';
import type { AdminProcess } from './admin-services.interface.js';
import { type ApiRoute, readRoute } from './api.route.js';

const SEARCH_FIELDS: Record<string, string> = {
  what: 'an action, such as user.delete, or its beginning up to a dot, such as destination',
  who: 'name of a token, user or tenant, an address, or how the caller signed in',
  target: 'name or id of the destination, source, delivery, replay or deletion that the action concerns',
  userId: 'user whose data was deleted',
  from: 'at this time or later: ms since the epoch, or ISO 8601',
  to: 'before this time',
};

/** Routes of the activity: what was done or refused through the admin routes, and the proofs of deletions. */
export function activityRoutes({ activity, receipts, queue }: AdminProcess): ApiRoute[] {
  return [
    readRoute(
      'activity',
      'What was done or refused, newest first; a portion has the cursor of the next one',
      ({ query, counted }) => {
        const search: ActivityQuery = {
          what: query.text('what'),
          who: query.text('who'),
          target: query.text('target'),
          userId: query.text('userId'),
          from: query.time('from'),
          to: query.time('to'),
        };
        const cursor = query.text('cursor');
        if (cursor !== undefined && !isLogId(cursor)) {
          throw new RequestError('query_invalid', 'cursor must be that of an earlier answer', 'cursor');
        }
        return queue.searches.inTurn(() => activity.search(search, query.limit, cursor), counted);
      },
      { ...SEARCH_FIELDS, ...PAGE_FIELDS },
    ),
    readRoute(
      'activity/:id',
      'One entry; of a deletion, with what each receiver answered to its notifications',
      async ({ params }) => {
        const entry = isLogId(params.id!) ? await activity.find(params.id!) : undefined;
        if (!entry) throw new RequestError('activity_unknown', 'the activity has no entry with this id', 'id');
        return entry.deletion ? { ...entry, receipts: await receipts.read(entry.id) } : entry;
      },
    ),
  ];
}
