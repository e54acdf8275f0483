// Measures how long the event loop is held up while 20,000 events are recorded, so many at each turn, and delivered.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { contenders } from './contenders.mjs';

const EVENTS = 20_000;

const [name, url, perTurn] = process.argv.slice(2);
const PER_TURN = Number(perTurn);
const contender = await contenders[name](url, 15);

async function burst() {
  for (let i = 0; i < EVENTS; i += PER_TURN) {
    for (let j = 0; j < PER_TURN; j++) contender.record();
    await setImmediate();
  }
  await contender.flush();
}

await burst(); // until the code is compiled
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
await burst();
delay.disable();
process.send({ p99: delay.percentile(99) / 1e6, recorded: 2 * EVENTS }, () => process.exit());
