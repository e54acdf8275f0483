// npm run bench:versus: this package beside what one would take or write in its place. Options: --only=forwarding or
// collecting, --rounds=3, --times=1 for a longer or shorter run.
import { option } from '../support/option.js';
import { median, printTable } from '../support/table.js';
import { CLIENTS } from './clients.js';
import { killClient, measureClient } from './collect.bench.js';
import { killPeer, measurePeer } from './forward.bench.js';
import { PEERS } from './peers/index.js';
import { describeStores } from './peers/stores.js';
import { HEAD, type Measured, type Row, type Survival, toCells } from './row.js';

const ROUNDS = Number(option('rounds') ?? 3);
const TIMES = Number(option('times') ?? 1);
const ONLY = option('only');

/** A half of the table: what is measured, and what is killed. */
interface Part {
  name: 'forwarding' | 'collecting';
  /** The first is the floor. */
  ways: string[];
  measure(way: string): Promise<Measured>;
  kill(way: string): Promise<{ survival: Promise<Survival> }>;
}

const PARTS: Part[] = [
  {
    name: 'forwarding',
    ways: Object.keys(PEERS),
    measure: (way) => measurePeer(way, 6_000 * TIMES, 10_000 * TIMES),
    kill: killPeer,
  },
  {
    name: 'collecting',
    ways: Object.keys(CLIENTS),
    measure: (way) => measureClient(way, TIMES),
    kill: killClient,
  },
];

/** Medians of rounds in which all ways take turns; a ratio compares runs of the same round. */
async function compare({ name, ways, measure }: Part): Promise<Row[]> {
  const runs = new Map<string, Measured[]>(ways.map((way) => [way, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of ways) {
      const measured = await measure(way);
      runs.get(way)!.push(measured);
      console.error(`${name}, round ${round + 1}, ${way}: ${JSON.stringify(measured)}`);
    }
  }
  const floor = runs.get(ways[0]!)!;
  return [...runs].map(([way, list]) => {
    const of = (pick: (measured: Measured, round: number) => number) => median(list.map(pick));
    return {
      way,
      rate: of(({ rate }) => rate),
      cpu: of(({ cpu }) => cpu),
      ratio: of(({ cpu }, round) => cpu / floor[round]!.cpu),
      ...(list[0]!.store !== undefined && { store: of(({ store }) => store!) }),
      memory: of(({ memory }) => memory),
    };
  });
}

/** Kills the ways one after the other; what they held is waited for together. */
async function killAll({ ways, kill }: Part): Promise<Map<string, Promise<Survival>>> {
  const survivals = new Map<string, Promise<Survival>>();
  for (const way of ways) survivals.set(way, (await kill(way)).survival);
  return survivals;
}

const parts = PARTS.filter(({ name }) => ONLY === undefined || ONLY === name);
const rows = new Map<Part, Row[]>();
for (const part of parts) rows.set(part, await compare(part));
const survivals = new Map<string, Promise<Survival>>();
for (const part of parts) for (const [way, survival] of await killAll(part)) survivals.set(way, survival);

const cells: string[][] = [];
for (const part of parts) {
  cells.push([`_${part.name}_`, ...HEAD.slice(1).map(() => '')]);
  for (const row of rows.get(part)!) cells.push(toCells(row, await survivals.get(row.way)!));
}
printTable(
  'versus',
  `forwarding a message of 1 KB, collecting an event of 562 bytes, medians of ${ROUNDS} rounds; ${await describeStores()}`,
  HEAD,
  cells,
);
