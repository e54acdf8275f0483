import type { MessageType } from '../../client/message/message.interface.js';

/** What a route takes: an envelope of messages, one message of a kind, or metrics of an SDK about itself. */
export type IngestRoute = 'batch' | 'metrics' | MessageType;

const NAMES: Record<string, IngestRoute> = {
  batch: 'batch',
  import: 'batch',
  b: 'batch',
  m: 'metrics',
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
