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

/** How long read figures are used for an order, in ms. */
const REUSE = 15_000;

/** Health, the worst first; a destination that is down comes before all. */
const HEALTH = ['failing', 'degraded', 'delivering', 'idle'] as const;

/** Ranks destinations by their figures, which are read for at most 500 of them, and again after 15 s. */
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
    const figures = await this.read(byCounts.slice(0, MAX_RANKED), caller);
    return sortBy(names, (name) => {
      const found = figures.get(name);
      return found ? rankOf(found, order) : -1;
    });
  }

  /** Reads the figures of destinations that were not read lately, one after the other. */
  async read(names: string[], caller: CountedCaller): Promise<Map<string, DestinationFigures>> {
    const since = performance.now() - REUSE;
    for (const [name, { at }] of this.known) if (at < since) this.known.delete(name);
    const missing = names.filter((name) => !this.known.has(name));
    if (missing.length > 0) {
      const read = () => readDestinationFigures(this.own, this.series, missing);
      const found = await this.own.queue.searches.inTurn(read, caller);
      const at = performance.now();
      missing.forEach((name, index) => this.known.set(name, { at, figures: found[index]! }));
    }
    return new Map(names.flatMap((name) => (this.known.has(name) ? [[name, this.known.get(name)!.figures]] : [])));
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
