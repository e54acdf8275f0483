import type { CountedCaller } from '../../http/caller.quota.js';
import type { DestinationEntry } from '../../registry/registry-entry.interface.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { type ApiRoute, readRoute } from './api.route.js';
import type { DestinationFigures, DestinationHealth } from './destination.figures.js';
import type { DestinationRanking } from './destination.ranking.js';
import type { LastFailure, LastFailures } from './last-failures.js';

/** Destinations that are considered, those with the most undelivered messages first. */
const MAX_CONSIDERED = 100;

/** Destinations in an answer. */
const MAX_SHOWN = 25;

/** Time after which a due delivery is late, in ms. */
const LATE = 60_000;

/** What is wrong with a destination, the worst first. */
const PROBLEMS = ['down', 'failing', 'degraded', 'late', 'limited'] as const;

/** A destination that needs attention. */
export interface DestinationProblem {
  destination: string;
  /**
   * `down`: its deliveries wait until one succeeds. `failing`, `degraded`: its health. `late`: deliveries have been due
   * for more than a minute. `limited`: so they have, because they are sent at the rate limit.
   */
  problem: (typeof PROBLEMS)[number];
  /** Number of deliveries still to be delivered, and of dead ones. */
  open: number;
  dead: number;
  /** When the delivery that is due first fell due, in ms since the epoch; only if it is late. */
  dueAt?: number | undefined;
  /** Deliveries per minute, of the last five minutes. */
  perMinute: number;
  /** Number of its URLs, each of which gets a request of a delivery. */
  urls: number;
  rateLimit?: DestinationEntry['rateLimit'] | undefined;
  lastFailure?: LastFailure | undefined;
}

/** Answer of `GET attention`. */
export interface Attention {
  at: number;
  /** Number of destinations by problem, of those with undelivered messages that were considered. */
  counts: Partial<Record<DestinationProblem['problem'], number>>;
  /** Number of destinations with undelivered messages; at most 100 of them are considered. */
  undelivered: number;
  /** The worst, at most 25. */
  destinations: DestinationProblem[];
}

/** Route of the destinations that need attention: they are down, fail, or get their deliveries late. */
export function attentionRoute(
  relay: AdminRelay,
  own: AdminProcess,
  ranking: DestinationRanking,
  failures: LastFailures,
): ApiRoute {
  return readRoute(
    'attention',
    'Destinations that are down, fail or get their deliveries late, the worst first, each with its last failure',
    async ({ counted }): Promise<Attention> => {
      const undelivered = await ranking.undelivered();
      for (const name of own.dispatcher.downNames) {
        if (!undelivered.has(name)) undelivered.set(name, { open: 0, dead: 0 });
      }
      const isDown = new Set(own.dispatcher.downNames);
      const weight = ([name, { open, dead }]: [string, { open: number; dead: number }]) =>
        (isDown.has(name) ? 1e9 : 0) + open + dead;
      const considered = [...undelivered].sort((one, other) => weight(other) - weight(one)).slice(0, MAX_CONSIDERED);
      const names = considered.map(([name]) => name);
      const figures = await ranking.read(names, counted);
      const due = new Map((await own.figures.oldest()).map(({ destination, dueAt }) => [destination, dueAt]));
      const found: DestinationProblem[] = [];
      for (const [destination, { open, dead }] of considered) {
        const entry = await relay.destinations.get(destination);
        const problem = entry && findProblem(entry, figures.get(destination)!, due.get(destination));
        if (problem) found.push({ destination, open, dead, ...problem });
      }
      const rank = ({ problem }: DestinationProblem) => PROBLEMS.indexOf(problem);
      found.sort((one, other) => rank(one) - rank(other) || other.open + other.dead - one.open - one.dead);
      const counts: Attention['counts'] = {};
      for (const { problem } of found) counts[problem] = (counts[problem] ?? 0) + 1;
      const shown = found.slice(0, MAX_SHOWN);
      for (const one of shown) one.lastFailure = await lastFailure(one, failures, counted);
      return { at: Date.now(), counts, undelivered: undelivered.size, destinations: shown };
    },
  );
}

/** Returns what is wrong with a destination; undefined if nothing is, or if it is not meant to be sent anything. */
function findProblem(
  { enabled, paused, disabled, rateLimit, urls }: DestinationEntry,
  { down, heldUntil, health, perMinute }: DestinationFigures,
  dueAt: number | undefined,
): Omit<DestinationProblem, 'destination' | 'open' | 'dead'> | undefined {
  if (!enabled || paused || disabled) return undefined;
  const pace = { perMinute, urls: urls.length, rateLimit };
  if (down) return { problem: 'down', ...pace };
  if (isBad(health)) return { problem: health, ...pace };
  if (dueAt === undefined || Date.now() - dueAt < LATE) return undefined;
  return { problem: rateLimit && heldUntil === undefined ? 'limited' : 'late', dueAt, ...pace };
}

function isBad(health: DestinationHealth): health is 'failing' | 'degraded' {
  return health === 'failing' || health === 'degraded';
}

async function lastFailure(
  { destination, problem, dead }: DestinationProblem,
  failures: LastFailures,
  caller: CountedCaller,
): Promise<LastFailure | undefined> {
  if (problem === 'late' || problem === 'limited') return undefined;
  return failures.find(destination, dead > 0 && problem !== 'down' ? 'dead' : 'waiting', caller);
}
