import type { MessageType } from '../../client/message/message.interface.js';

/** What a route takes: an envelope of messages, or one message of a kind. */
export type IngestRoute = 'batch' | MessageType;

const NAMES: Record<string, IngestRoute> = {
  batch: 'batch',
  import: 'batch',
  b: 'batch',
  identify: 'identify',
  i: 'identify',
  track: 'track',
  t: 'track',
  page: 'page',
  p: 'page',
  screen: 'screen',
  s: 'screen',
  group: 'group',
  g: 'group',
  alias: 'alias',
  a: 'alias',
};

/** The endpoint's paths, each with what it takes. */
export function ingestRoutes(prefix: string): Map<string, IngestRoute> {
  return new Map(Object.entries(NAMES).map(([name, route]) => [`/${prefix}/${name}`, route]));
}
