import { foundOnce } from '../../common/found-once.util.js';
import { type DeliveryCount, type DeliveryState, isOpen } from '../queue/delivery.interface.js';

/** Number of deliveries by state; states without deliveries are omitted. */
export type StateCounts = Partial<Record<DeliveryState, number>>;

/** A destination, and the number of its deliveries. */
export interface DestinationCounts {
  destination: string;
  /** Whether this process has found the destination to be down. */
  down: boolean;
  counts: StateCounts;
}

/** Numbers of deliveries, with the destinations that most need attention. */
export interface CountsSummary {
  /** Of all destinations together. */
  counts: StateCounts;
  /** Those that are down first, then those with the most deliveries that are open or dead. */
  destinations: DestinationCounts[];
  /** All other destinations with deliveries, together. */
  others: { destinations: number; counts: StateCounts };
  /** Number of destinations that are down. */
  down: number;
}

/** The counts of a destination, to be sorted. */
interface Row {
  destination: string;
  counts: StateCounts;
  /** Number of its deliveries that are open or dead. */
  undelivered: number;
}

/** The counts of each destination, those with the most undelivered deliveries first. */
interface SortedCounts {
  rows: Row[];
  byName: Map<string, Row>;
  total: StateCounts;
}

/** Sorts counts once for all who read the same ones. */
export const sortCounts = foundOnce((counts: DeliveryCount[]): SortedCounts => {
  const byName = new Map<string, Row>();
  const total: StateCounts = {};
  for (const { destination, state, count } of counts) {
    let row = byName.get(destination);
    if (!row) byName.set(destination, (row = { destination, counts: {}, undelivered: 0 }));
    row.counts[state] = count;
    if (state === 'dead' || isOpen({ state })) row.undelivered += count;
    total[state] = (total[state] ?? 0) + count;
  }
  const rows = [...byName.values()].sort((one, other) => other.undelivered - one.undelivered);
  return { rows, byName, total };
}, new WeakMap());

/**
 * Summarizes counts.
 *
 * @param down names of the destinations that are down
 * @param limit maximum number of destinations
 */
export function summarize(all: DeliveryCount[], down: string[], limit: number): CountsSummary {
  const { rows, byName, total } = sortCounts(all);
  const isDown = new Set(down);
  const fallen = down.map((destination): Row => byName.get(destination) ?? { destination, counts: {}, undelivered: 0 });
  fallen.sort((one, other) => other.undelivered - one.undelivered);
  const shown = fallen.slice(0, limit);
  for (const row of rows) {
    if (shown.length === limit) break;
    if (!isDown.has(row.destination)) shown.push(row);
  }
  const others = { destinations: rows.length, counts: { ...total } };
  for (const { destination, counts } of shown) {
    if (byName.has(destination)) others.destinations--;
    for (const state of Object.keys(counts) as DeliveryState[]) {
      others.counts[state]! -= counts[state]!;
      if (others.counts[state] === 0) delete others.counts[state];
    }
  }
  return {
    counts: total,
    destinations: shown.map(({ destination, counts }) => ({ destination, down: isDown.has(destination), counts })),
    others,
    down: down.length,
  };
}
