// npm run bench:soak: a relay under load for a long time, with a healthy, a slow, a flapping and a dead destination.
// --engine=sqlite|redis|postgres, --minutes=20, --rate=300, --kills=0. What grows or is lost makes it fail.
import { setTimeout as sleep } from 'node:timers/promises';

import { Child } from '../support/child.js';
import { option } from '../support/option.js';
import { printGoals } from '../support/table.js';
import type { RelayReport } from './relay.process.js';
import { SoakLedger } from './soak.ledger.js';
import { SoakLoad } from './soak.load.js';
import { type SoakEngine, soakPlan } from './soak.plan.js';
import { startReceivers } from './soak.receivers.js';
import { accountGoals, flatGoals, printAccounts, printQuarters, type Sample } from './soak.report.js';
import { startStore } from './soak.store.js';

/** Time between two samples, in ms; what was given up is asked for as often. */
const INTERVAL = 2_000;

const engine = (option('engine') ?? 'sqlite') as SoakEngine;
if (!['sqlite', 'redis', 'postgres'].includes(engine)) throw new Error('--engine must be sqlite, redis or postgres');
const numberOf = (name: 'minutes' | 'rate' | 'kills', standard: number) => {
  const value = Number(option(name) ?? standard);
  if (!(value >= 0)) throw new Error(`--${name} must be a number`);
  return value;
};
const plan = soakPlan(engine, numberOf('minutes', 20), numberOf('rate', 300), numberOf('kills', 0));
const size = Math.ceil((plan.rate * plan.duration) / 1_000);

const ledger = new SoakLedger(size);
const load = new SoakLoad(ledger, plan.rate, size);
const store = await startStore(engine);
const receivers = await startReceivers(ledger, plan.flap);

let relay: Child;
const startRelay = async () => {
  const args = [JSON.stringify(plan), JSON.stringify(receivers.urls), store.place()];
  const [child, { url }] = await Child.start<{ url: string }>('../soak/relay.process', ...args);
  relay = child;
  load.aim(url);
};
const report = async (order: 'report' | 'report and count' | 'close'): Promise<RelayReport> => {
  const answer = await relay.ask<RelayReport>(order);
  for (const entry of answer.givenUp) ledger.giveUp(entry);
  return answer;
};

await startRelay();
const start = performance.now();
const loaded = load.run();
const samples: Sample[] = [];
let last = { accepted: 0, taken: 0 };
for (let killed = 0; performance.now() - start < plan.duration;) {
  await sleep(INTERVAL);
  const at = performance.now() - start;
  if (killed < plan.kills && at > ((killed + 0.5) * plan.duration) / plan.kills) {
    killed++;
    await relay!.stop();
    await startRelay();
    console.log(
      `${(at / 60_000).toFixed(1)} min: killed, and up again after ${((performance.now() - start - at) / 1_000).toFixed(1)} s`,
    );
    continue;
  }
  const { figures, open } = await report('report and count');
  const now = { accepted: ledger.acceptedCount, taken: ledger.takenCount };
  samples.push({
    ...figures,
    at,
    store: await store.size(),
    open: open!,
    accepted: now.accepted - last.accepted,
    taken: now.taken - last.taken,
  });
  last = now;
}
load.stop();
await loaded;

// The dead destination's last messages are given up when their window is over.
const end = performance.now() + plan.retryWindow + 60_000;
let open: number | undefined;
do {
  await sleep(INTERVAL);
  ({ open } = await report('report and count'));
} while (open !== 0 && performance.now() < end);
await report('close');
await relay!.stop();
receivers.close();
await store.remove();

printQuarters(samples, plan);
printAccounts(`soak-${engine}`, ledger);
console.log(`batches posted again: ${load.repeated}`);
printGoals([
  ...flatGoals(samples, plan),
  ...accountGoals(ledger, plan),
  { figure: 'deliveries that never ended', value: open ?? 0, atMost: 0 },
]);
process.exit();
