import type { MessageType } from '../../client/message/message.interface.js';

/** A route for messages: a batch of them, or one message of a type. */
export type MessageRoute = 'batch' | MessageType;

/** A route of the endpoint: for messages, or for an SDK's metrics about itself. */
export type IngestRoute = MessageRoute | 'metrics';

const PATHS: Record<IngestRoute, string[]> = {
  batch: ['batch', 'import', 'b'],
  metrics: ['m'],
  identify: ['identify', 'i'],
  track: ['track', 't'],
  page: ['page', 'p'],
  screen: ['screen', 's'],
  group: ['group', 'g'],
  alias: ['alias', 'a'],
};

/** Each path of the endpoint, after the prefix, and its route. */
export const INGEST_ROUTES = (Object.entries(PATHS) as [IngestRoute, string[]][]).flatMap(([route, paths]) =>
  paths.map((path) => ({ path, route })),
);

/** Returns the route of each full path of the endpoint, with and without a trailing slash. */
export function ingestRoutes(prefix: string): Map<string, IngestRoute> {
  return new Map(
    INGEST_ROUTES.flatMap(({ path, route }) =>
      [`/${prefix}/${path}`, `/${prefix}/${path}/`].map((whole) => [whole, route] as const),
    ),
  );
}
