import { ClosedError } from '../../../common/relay.errors.js';
import { RequestError } from '../../ingest/request.error.js';
import { EventStream } from '../live/event-stream.js';
import { LIVE_FILTERS, LIVE_KINDS, type LiveFilter } from '../live/live.event.js';
import { type LiveFeed, MAX_STREAMS } from '../live/live.feed.js';
import { type ApiRoute, readRoute } from './api.route.js';

/** Route of the live events, as server-sent events. */
export function eventRoutes(feed: LiveFeed): ApiRoute[] {
  return [
    readRoute(
      'events',
      'Messages and outcomes as they happen, as server-sent events; of all processes that share the queue',
      ({ query, response }) => {
        query.oneOf('kind', LIVE_KINDS);
        const filter = Object.fromEntries(
          LIVE_FILTERS.flatMap((name) => (query.text(name) === undefined ? [] : [[name, query.text(name)]])),
        ) as LiveFilter;
        // The client disconnected during authentication: nothing would remove its stream.
        if (response.destroyed) return Promise.resolve(undefined);
        if (feed.isClosed) throw new ClosedError('the application is shutting down');
        if (feed.isFull) {
          const rule = `at most ${MAX_STREAMS} streams may be open in a process`;
          throw new RequestError(503, 'too_many_streams', rule, undefined, 10);
        }
        const stream: EventStream = new EventStream(response, filter, feed.scope, () => feed.remove(stream));
        feed.add(stream);
        return Promise.resolve(undefined);
      },
      Object.fromEntries(LIVE_FILTERS.map((name) => [name, `${name} of the event`])),
    ),
  ];
}
