import type { CatalogueEvent } from '../../api/portal.answers.js';
import { get } from '../../api/portal.client.js';

/** Loads the catalogue. */
export function getEvents(signal: AbortSignal): Promise<{ events: CatalogueEvent[] }> {
  return get('events', { signal });
}
