import type { DestinationFigures } from '../../../lib/webhook-destination/admin/api/destination.figures.js';
import type { DestinationEntry } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';

/** A destination as `GET destinations` answers it, with figures. */
export interface Destination extends DestinationEntry {
  figures: DestinationFigures;
}
