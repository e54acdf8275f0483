// npm run bench:chaos: two relays under load, killed, frozen and restarted at random, with a store that dies.
// --engine=sqlite|redis|postgres, --minutes=4, --rate=300, --seed=<number>. What is lost or misdelivered makes it fail.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Child } from '../support/child.js';
import { option } from '../support/option.js';
import { printGoals, printTable } from '../support/table.js';
import type { RelayReport } from './relay.process.js';
import { SoakLedger } from './soak.ledger.js';
import { SoakLoad } from './soak.load.js';
import { type SoakEngine, soakPlan } from './soak.plan.js';
import { startReceivers } from './soak.receivers.js';
import { accountGoals, printAccounts } from './soak.report.js';
import { startStore } from './soak.store.js';

const RELAYS = 2;

/** Time between two faults, in ms. */
const CALM = [500, 3_000] as const;

/** How long a relay is frozen, in ms: shorter and longer than the timeout of a request. */
const FREEZE = [500, 12_000] as const;

/** How long the store is down, in ms. */
const DOWN = [0, 4_000] as const;

const engine = (option('engine') ?? 'sqlite') as SoakEngine;
if (!['sqlite', 'redis', 'postgres'].includes(engine)) throw new Error('--engine must be sqlite, redis or postgres');
const seed = Number(option('seed') ?? randomInt(2 ** 31));
const random = generator(seed);
const between = ([least, most]: readonly [number, number]) => Math.round(least + random() * (most - least));

const minutes = Number(option('minutes') ?? 4);
const plan = soakPlan(engine, minutes, Number(option('rate') ?? 300), 1);
plan.records = plan.duration + plan.retryWindow + 300_000; // what died is listed by the next start
plan.messageIds = plan.records;
const size = Math.ceil((plan.rate * plan.duration) / 1_000);

const ledger = new SoakLedger(size);
const load = new SoakLoad(ledger, plan.rate, size);
const store = await startStore(engine);
const receivers = await startReceivers(ledger, plan.flap);
const relays: Child[] = [];

const start = async (relay: number) => {
  const args = [JSON.stringify(plan), JSON.stringify(receivers.urls), store.place(relay)];
  const [child, { url }] = await Child.start<{ url: string }>('../soak/relay.process', ...args);
  relays[relay] = child;
  load.aim(url, relay);
};
const report = async (relay: number, order: 'report and count' | 'close') => {
  const { givenUp, open } = await relays[relay]!.ask<RelayReport>(order);
  for (const entry of givenUp) ledger.giveUp(entry);
  return open ?? 0;
};

/** What happens, each with how often. */
const faults = {
  killed: async (relay: number) => {
    await relays[relay]!.stop();
    await start(relay);
  },
  frozen: async (relay: number) => {
    relays[relay]!.signal('SIGSTOP');
    await sleep(between(FREEZE));
    relays[relay]!.signal('SIGCONT');
  },
  restarted: async (relay: number) => {
    await report(relay, 'close');
    await relays[relay]!.stop();
    await start(relay);
  },
  ...(store.crash && { 'store killed': () => store.crash!(between(DOWN)) }),
};
const counts = new Map<string, number>();

for (let relay = 0; relay < RELAYS; relay++) await start(relay);
console.log(`${engine}, ${minutes} min, ${plan.rate} messages/s, --seed=${seed}`);
const begin = performance.now();
const loaded = load.run();
while (performance.now() - begin < plan.duration) {
  await sleep(between(CALM));
  const names = Object.keys(faults) as (keyof typeof faults)[];
  const name = names[Math.floor(random() * names.length)]!;
  await faults[name]!(Math.floor(random() * RELAYS));
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
load.stop();
await loaded;

// The dead destination's last messages are given up when their window is over.
const end = performance.now() + plan.retryWindow + 120_000;
let open: number;
do {
  await sleep(2_000);
  open = 0;
  for (let relay = 0; relay < RELAYS; relay++) open += await report(relay, 'report and count');
} while (open > 0 && performance.now() < end);
for (let relay = 0; relay < RELAYS; relay++) {
  // A relay that was killed after it gave up deliveries did not report them; at its start it lists them.
  await faults.killed(relay);
  await report(relay, 'close');
  await relays[relay]!.stop();
}
receivers.close();
await store.remove();

printTable(
  `chaos-${engine}`,
  `${engine}, ${minutes} min, --seed=${seed}`,
  ['fault', 'times'],
  [...counts].map(([name, count]) => [name, String(count)]),
);
printAccounts(`chaos-${engine}`, ledger);
console.log(`batches posted again: ${load.repeated}`);
printGoals([
  ...accountGoals(ledger, { ...plan, kills: [...counts.values()].reduce((sum, count) => sum + count, 0) }),
  { figure: 'deliveries that never ended', value: open, atMost: 0 },
]);
process.exit();

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function generator(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
