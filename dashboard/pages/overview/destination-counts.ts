import type { DeliveryCount, DeliveryState } from '../../../lib/webhook-destination/queue/delivery.interface.js';

/** Number of a destination's deliveries by state; states without deliveries are omitted. */
export interface DestinationCounts extends Partial<Record<DeliveryState, number>> {
  destination: string;
}

/** Returns a row for each destination, those with the most undelivered deliveries first. */
export function toDestinationCounts(counts: DeliveryCount[]): DestinationCounts[] {
  const rows = new Map<string, DestinationCounts>();
  for (const { destination, state, count } of counts) {
    const row = rows.get(destination) ?? { destination };
    row[state] = count;
    rows.set(destination, row);
  }
  return [...rows.values()].sort(
    (a, b) => undelivered(b) - undelivered(a) || a.destination.localeCompare(b.destination),
  );
}

function undelivered({ queued = 0, delivering = 0, waiting = 0, dead = 0 }: DestinationCounts): number {
  return queued + delivering + waiting + dead;
}
