import type { MessageType } from '../../client/message/message.interface.js';

/** A route for messages: a batch of them, or one message of a type. */
export type MessageRoute = 'batch' | MessageType;

/** A route of the endpoint: for messages, or for an SDK's metrics about itself. */
export type IngestRoute = MessageRoute | 'metrics';

/** The paths of each route, after the prefix. */
export const INGEST_PATHS: Record<IngestRoute, string[]> = {
  batch: ['batch', 'import', 'b'],
  metrics: ['m'],
  identify: ['identify', 'i'],
  track: ['track', 't'],
  page: ['page', 'p'],
  screen: ['screen', 's'],
  group: ['group', 'g'],
  alias: ['alias', 'a'],
};

/** Returns the route of each full path of the endpoint, with and without a trailing slash. */
export function ingestRoutes(prefix: string): Map<string, IngestRoute> {
  const routes = Object.entries(INGEST_PATHS) as [IngestRoute, string[]][];
  return new Map(
    routes.flatMap(([route, paths]) =>
      paths.flatMap((path) => [`/${prefix}/${path}`, `/${prefix}/${path}/`].map((whole) => [whole, route] as const)),
    ),
  );
}
