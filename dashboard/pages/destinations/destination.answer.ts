import type { DestinationFigures } from '../../../lib/webhook-destination/admin/api/destination.figures.js';
import type { DestinationEntry } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';

/** A destination as `GET destinations` answers it, with figures. */
export interface Destination extends DestinationEntry {
  figures: DestinationFigures;
}

/** Number of deliveries still to be delivered. */
export function openOf({ queued = 0, delivering = 0, waiting = 0 }: DestinationFigures['counts']): number {
  return queued + delivering + waiting;
}

/** Whether the rate limit, and nothing else, holds back a backlog: more is due than it lets through at once. */
export function isAtLimit({ rateLimit, figures }: Pick<Destination, 'rateLimit' | 'figures'>): boolean {
  const { counts, down, heldUntil, health } = figures;
  const isHeld = down || heldUntil !== undefined || health === 'failing' || health === 'degraded';
  return rateLimit !== undefined && !isHeld && (counts.queued ?? 0) > rateLimit.requests;
}
