import type { DestinationFigures } from '../../../webhook-destination/admin/api/destination.figures.js';
import type { DestinationEntry } from '../../../webhook-destination/registry/registry-entry.interface.js';

/** A destination as `GET destinations` answers it, with figures. */
export interface Destination extends DestinationEntry {
  figures: DestinationFigures;
}
