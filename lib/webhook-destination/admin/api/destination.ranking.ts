import type { CountedCaller } from '../../http/caller.quota.js';
import { sortCounts } from '../../observe/destination-counts.js';
import type { RelaySeries } from '../../observe/relay-series.js';
import type { AdminProcess } from './admin-services.interface.js';
import { type DestinationFigures, openOf, readDestinationFigures } from './destination.figures.js';

/** Orders of the list of destinations; those of the same rank are sorted by name. */
export const DESTINATION_ORDERS = ['name', 'health', 'failures', 'backlog', 'p95'] as const;

export type DestinationOrder = (typeof DESTINATION_ORDERS)[number];

/** Destinations whose figures are read for an order, those with the most undelivered messages first. */
const MAX_RANKED = 500;

/** How long figures are used once they are read, in ms. */
const REUSE = 15_000;

/** Destinations that are ranked by figures of now, as those they are shown with: a page of them. */
const FEW = 50;

/** Health, the worst first; a destination that is down comes before all. */
const HEALTH = ['failing', 'degraded', 'delivering', 'idle'] as const;

/**
 * Ranks destinations by their figures, which are read for at most 500 of them. Those of more than 50 destinations are
 * read again after 15 s.
 */
export class DestinationRanking {
  private readonly known = new Map<string, { at: number; figures: DestinationFigures }>();

  constructor(
    private readonly own: AdminProcess,
    private readonly series: RelaySeries,
  ) {}

  /** Returns the names in an order other than by name. */
  async sort(names: string[], order: Exclude<DestinationOrder, 'name'>, caller: CountedCaller): Promise<string[]> {
    const undelivered = await this.undelivered();
    const of = (name: string) => undelivered.get(name) ?? { open: 0, dead: 0 };
    const byCounts = sortBy(names, (name) => of(name).open + (order === 'backlog' ? 0 : of(name).dead));
    if (order === 'backlog') return byCounts;
    const figures = await this.read(byCounts.slice(0, MAX_RANKED), caller, names.length > FEW ? REUSE : 0);
    return sortBy(names, (name) => {
      const found = figures.get(name);
      return found ? rankOf(found, order) : -1;
    });
  }

  /**
   * Returns the figures of destinations, which are read one after the other. What this process knows of a
   * destination by itself, `down` and `heldUntil`, is that of now.
   *
   * @param maxAge of figures that were read before, in ms
   */
  async read(names: string[], caller: CountedCaller, maxAge = REUSE): Promise<Map<string, DestinationFigures>> {
    const now = performance.now();
    for (const [name, { at }] of this.known) if (at < now - REUSE) this.known.delete(name);
    const known = names.filter((name) => (this.known.get(name)?.at ?? -Infinity) > now - maxAge);
    const found = new Map(known.map((name) => [name, this.known.get(name)!.figures]));
    const missing = names.filter((name) => !found.has(name));
    if (missing.length > 0) {
      const figures = await this.own.queue.searches.inTurn(
        () => readDestinationFigures(this.own, this.series, missing),
        caller,
      );
      const at = performance.now();
      missing.forEach((name, index) => {
        found.set(name, figures[index]!);
        this.known.set(name, { at, figures: figures[index]! });
      });
    }
    const { dispatcher } = this.own;
    const down = new Set(dispatcher.downNames);
    for (const [name, figures] of found) {
      found.set(name, { ...figures, down: down.has(name), heldUntil: dispatcher.heldUntil(name) });
    }
    return found;
  }

  /** Returns the number of open and of dead deliveries of each destination that has some. */
  async undelivered(): Promise<Map<string, { open: number; dead: number }>> {
    const { rows } = sortCounts(await this.own.figures.counts());
    const some = rows.filter(({ undelivered }) => undelivered > 0);
    return new Map(
      some.map(({ destination, counts }) => [destination, { open: openOf(counts), dead: counts.dead ?? 0 }]),
    );
  }
}

function rankOf(figures: DestinationFigures, order: Exclude<DestinationOrder, 'name' | 'backlog'>): number {
  const { down, health, recent, counts, p95 } = figures;
  if (order === 'p95') return p95 ?? 0;
  if (order === 'failures') return recent.failed + recent.dead;
  const worst = down ? HEALTH.length : HEALTH.length - 1 - HEALTH.indexOf(health);
  return worst + openOf(counts) / (openOf(counts) + 1); // the larger backlog first
}

/** Returns names sorted by a value, the highest first. */
function sortBy(names: string[], valueOf: (name: string) => number): string[] {
  const values = names.map((name) => ({ name, value: valueOf(name) }));
  return values
    .sort((one, other) => other.value - one.value || (one.name < other.name ? -1 : 1))
    .map(({ name }) => name);
}
