import type { DestinationFigures } from '../../../webhook-destination/admin/api/destination.figures.js';
import type { DestinationEntry } from '../../../webhook-destination/registry/registry-entry.interface.js';

/** A destination as `GET destinations` answers it, with figures. */
export interface Destination extends DestinationEntry {
  figures: DestinationFigures;
}

/** Returns why an entry cannot be changed; undefined if it can. */
export function whyFixed({ origin }: Pick<DestinationEntry, 'origin'>): string | undefined {
  if (origin === 'fixed') return "It is set in the application's code.";
  return origin === 'application' ? "It is in the application's own registry." : undefined;
}
