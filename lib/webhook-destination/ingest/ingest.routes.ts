import type { MessageType } from '../../client/message/message.interface.js';

/** What a route for messages takes: an envelope of them, or one of a kind. */
export type MessageRoute = 'batch' | MessageType;

/** What a route takes: messages, or metrics of an SDK about itself. */
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

/** The endpoint's whole paths, each with its route; a slash at the end makes no difference. */
export function ingestRoutes(prefix: string): Map<string, IngestRoute> {
  const routes = Object.entries(INGEST_PATHS) as [IngestRoute, string[]][];
  return new Map(
    routes.flatMap(([route, paths]) =>
      paths.flatMap((path) => [`/${prefix}/${path}`, `/${prefix}/${path}/`].map((whole) => [whole, route] as const)),
    ),
  );
}
