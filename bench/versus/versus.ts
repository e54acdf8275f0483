// npm run bench:versus: this package beside what one would take or write in its place. Options: --only=forwarding or
// collecting, --rounds=3, --times=1 for a longer or shorter run. Only a whole run writes figures.json and table.md.
import { option } from '../support/option.js';
import { median } from '../support/table.js';
import { CLIENTS, killClient, measureClient } from './collect.bench.js';
import { describeRun, type Row, type Survival, toMarkdown, writeFigures } from './figures.js';
import { killPeer, type Measured, measurePeer } from './forward.bench.js';
import { PEERS } from './peers/index.js';

const ROUNDS = Number(option('rounds') ?? 3);
const TIMES = Number(option('times') ?? 1);
const ONLY = option('only');

/** Deliveries that are measured, and those before. */
const COUNT = 10_000 * TIMES;
const WARM_UP = 6_000 * TIMES;

/** Medians of rounds in which all take turns; a ratio compares runs of the same round. The first is the floor. */
async function compare(
  part: Row['part'],
  names: string[],
  measure: (name: string) => Promise<Measured>,
): Promise<Row[]> {
  const runs = new Map<string, Measured[]>(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) {
      const measured = await measure(name);
      runs.get(name)!.push(measured);
      console.error(`${part}, round ${round + 1}, ${name}: ${JSON.stringify(measured)}`);
    }
  }
  const [floor] = runs.values() as unknown as [Measured[]];
  return [...runs].map(([way, list]) => {
    const of = (pick: (measured: Measured, round: number) => number) => median(list.map(pick));
    return {
      part,
      way,
      rate: of(({ rate }) => rate),
      cpu: of(({ cpu }) => cpu),
      ratio: of(({ cpu }, round) => cpu / floor[round]!.cpu),
      ...(list[0]!.store !== undefined && { store: of(({ store }) => store!) }),
      memory: of(({ memory }) => memory),
    };
  });
}

const rows: Row[] = [];
const survivals = new Map<string, Promise<Survival>>();
if (ONLY !== 'collecting') {
  const names = Object.keys(PEERS);
  rows.push(...(await compare('forwarding', names, (name) => measurePeer(name, WARM_UP, COUNT))));
}
if (ONLY !== 'forwarding') {
  rows.push(...(await compare('collecting', Object.keys(CLIENTS), (name) => measureClient(name, TIMES))));
}
// Killed one after the other; what they held is waited for together.
for (const { part, way } of rows) {
  const { survival } = await (part === 'forwarding' ? killPeer(way) : killClient(way));
  survivals.set(way, survival);
}
for (const row of rows) {
  row.survival = await survivals.get(row.way)!;
  console.error(`killed, ${row.way}: ${JSON.stringify(row.survival)}`);
}
console.log(`\n${toMarkdown(rows)}`);
if (ONLY === undefined) writeFigures({ ...(await describeRun()), rounds: ROUNDS, rows });
