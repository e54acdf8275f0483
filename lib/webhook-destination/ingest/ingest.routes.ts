import type { MessageType } from '../../client/message/message.interface.js';

/** What a route takes: an envelope of messages, metrics of an SDK about itself, or one message of a kind. */
export type IngestRoute = 'batch' | 'metrics' | MessageType;

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

/** The endpoint's whole paths, each with its route. */
export function ingestRoutes(prefix: string): Map<string, IngestRoute> {
  const routes = Object.entries(INGEST_PATHS) as [IngestRoute, string[]][];
  return new Map(routes.flatMap(([route, paths]) => paths.map((path) => [`/${prefix}/${path}`, route] as const)));
}
