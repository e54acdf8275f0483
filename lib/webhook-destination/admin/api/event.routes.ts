import { LIVE_FILTERS, LIVE_KINDS, type LiveFilter } from '../live/live.event.js';
import type { LiveFeed } from '../live/live.feed.js';
import { type ApiRoute, readRoute } from './api.route.js';

/** Route of the live events, as server-sent events. */
export function eventRoute(feed: LiveFeed): ApiRoute {
  return readRoute(
    'events',
    'Messages and outcomes as they happen, as server-sent events; of all processes that share the queue',
    ({ query, response }) => {
      query.oneOf('kind', LIVE_KINDS);
      const given = LIVE_FILTERS.map((name) => [name, query.text(name)]).filter(([, value]) => value !== undefined);
      feed.stream(response, Object.fromEntries(given) as LiveFilter);
      return undefined;
    },
    Object.fromEntries(LIVE_FILTERS.map((name) => [name, `${name} of the event`])),
  );
}
