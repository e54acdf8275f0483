import { type Goal, median, printTable } from '../support/table.js';
import type { RelayFigures } from './relay.process.js';
import type { SoakLedger } from './soak.ledger.js';
import { DESTINATIONS, type SoakPlan } from './soak.plan.js';

/** One look at the relay and its store. */
export interface Sample extends RelayFigures {
  /** Since the soak began, in ms. */
  at: number;
  /** Bytes of the store. */
  store: number;
  /** Deliveries that had not ended. */
  open: number;
  /** Messages accepted and webhooks taken since the sample before. */
  accepted: number;
  taken: number;
}

const MB = 1024 * 1024;

/** The lowest of the figures, save for a tenth of them: what stays when garbage is collected and sockets are closed. */
const floor = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 10)]!;

/** What must stay flat: what of a quarter counts, and by how much that may grow where it is more than 15 %. */
const FLAT = {
  rss: { title: 'rss MB', of: median, unit: MB, slack: 16 },
  heap: { title: 'heap floor MB', of: floor, unit: MB, slack: 16 },
  external: { title: 'external floor MB', of: floor, unit: MB, slack: 8 },
  fds: { title: 'fds floor', of: floor, unit: 1, slack: 32 },
  handles: { title: 'handles floor', of: floor, unit: 1, slack: 32 },
  store: { title: 'store MB', of: median, unit: MB, slack: 8 },
};

type Flat = keyof typeof FLAT;

const figures = Object.entries(FLAT) as [Flat, (typeof FLAT)[Flat]][];

function quarterOf(samples: Sample[], quarter: number, { duration }: SoakPlan): Sample[] {
  return samples.filter(({ at }) => Math.min(Math.floor((4 * at) / duration), 3) === quarter);
}

/** A line for each quarter: medians of its samples. */
export function printQuarters(samples: Sample[], plan: SoakPlan): void {
  const { engine, duration, rate, kills } = plan;
  printTable(
    `soak-${engine}`,
    `${engine}: ${rate} messages/s for ${duration / 60_000} min, ${kills} kills; a line for each quarter; a failed ` +
      `delivery is retried for ${plan.retryWindow / 1_000} s, records kept for ${plan.records / 1_000} s`,
    ['quarter', ...figures.map(([, { title }]) => title), 'cpu', 'loop p99 ms', 'open', 'accepted/s', 'webhooks/s'],
    [0, 1, 2, 3].map((quarter) => {
      const some = quarterOf(samples, quarter, plan);
      const sum = (figure: 'accepted' | 'taken') => some.reduce((total, sample) => total + sample[figure], 0);
      const seconds = duration / 4_000;
      return [
        `${quarter + 1}`,
        ...figures.map(([figure, { of, unit }]) =>
          (of(some.map((sample) => sample[figure])) / unit).toFixed(unit === 1 ? 0 : 1),
        ),
        median(some.map(({ cpu }) => cpu)).toFixed(2),
        median(some.map(({ loopDelay }) => loopDelay)).toFixed(1),
        `${median(some.map(({ open }) => open))}`,
        (sum('accepted') / seconds).toFixed(0),
        (sum('taken') / seconds).toFixed(0),
      ];
    }),
  );
}

/** What became of the messages at each destination. */
export function printAccounts(bench: string, ledger: SoakLedger): void {
  printTable(
    `${bench}-accounts`,
    `${ledger.acceptedCount} messages accepted`,
    ['destination', 'delivered', 'given up', 'missing', 'repeated', 'given up without an attempt'],
    DESTINATIONS.map((destination) => {
      const { delivered, givenUp, missing, repeated, unattempted } = ledger.account(destination);
      return [destination, ...[delivered, givenUp, missing, repeated, unattempted].map(String)];
    }),
  );
  for (const [reason, count] of ledger.reasons) console.log(`given up: ${count} x ${reason}`);
}

/** The last quarter against the second one. */
export function flatGoals(samples: Sample[], plan: SoakPlan): Goal[] {
  return figures.map(([figure, { title, of, unit, slack }]) => {
    const [second, last] = [1, 3].map(
      (quarter) => of(quarterOf(samples, quarter, plan).map((sample) => sample[figure])) / unit,
    ) as [number, number];
    return {
      figure: `${title}, last quarter, where the second had ${second.toFixed(1)}`,
      value: last,
      atMost: Math.max(second * 1.15, second + slack),
    };
  });
}

/** What was sent, but not recorded, when the relay was killed goes out again. */
function mostRepeated({ engine, kills, concurrency }: SoakPlan): number {
  return kills * concurrency * (engine === 'sqlite' ? 3 : 1);
}

/** Nothing missing, and nothing repeated but what a kill explains; only flapping and dead receivers are given up on. */
export function accountGoals(ledger: SoakLedger, plan: SoakPlan): Goal[] {
  const accounts = DESTINATIONS.flatMap((destination) => {
    const { delivered, givenUp, missing, repeated, unattempted } = ledger.account(destination);
    const wrong = { healthy: givenUp, slow: givenUp, flapping: 0, dead: delivered }[destination];
    return [
      { figure: `missing, ${destination}`, value: missing, atMost: 0 },
      { figure: `given up without an attempt, ${destination}`, value: unattempted, atMost: 0 },
      { figure: `repeated, ${destination}`, value: repeated, atMost: mostRepeated(plan) },
      {
        figure: `${destination === 'dead' ? 'delivered' : 'given up'} by mistake, ${destination}`,
        value: wrong,
        atMost: 0,
      },
    ];
  });
  return [...accounts, { figure: 'webhooks that do not verify', value: ledger.forgedCount, atMost: 0 }];
}
