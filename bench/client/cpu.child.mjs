// Measures one contender: CPU time of all threads per event, delivery included.
import { contenders } from './contenders.mjs';

const [name, url, batchSize, round, warmup, events] = process.argv.slice(2);
const contender = await contenders[name](url, Number(batchSize));

async function record(count) {
  for (let left = count; left > 0; left -= Number(round)) {
    for (let i = Math.min(left, Number(round)); i > 0; i--) contender.record();
    await contender.flush();
  }
}

await record(Number(warmup)); // until the code is compiled
const start = process.cpuUsage();
await record(Number(events));
const { user, system } = process.cpuUsage(start);
process.send({ perEvent: (user + system) / Number(events) }, () => process.exit());
