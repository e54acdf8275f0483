// Measures the heap that queued events take while the collection service does not answer.
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { Analytics, keepAliveHttpClient } from 'nestjs-analytics-relay/client';
import { name, properties, userId } from './event.mjs';

const EVENTS = 100_000;

const dead = createServer(() => undefined);
await new Promise((resolve) => dead.listen(0, '127.0.0.1', resolve));
const host = `http://127.0.0.1:${dead.address().port}`;
const analytics = new Analytics({
  writeKey: 'wk_bench',
  host,
  httpClient: keepAliveHttpClient(),
  maxEventsInBatch: 100,
});

const bytes = await new Promise((resolve) => {
  const sample = new Analytics({ writeKey: 'wk_bench', disable: true, maxEventsInBatch: 1 });
  sample.track({ userId, event: name, properties }, (err, ctx) => resolve(JSON.stringify(ctx.event).length));
});

/** Memory in use, on the heap and beside it, once all that can be collected is. */
async function used() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    await setTimeout(20);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

for (let i = 0; i < 100; i++) analytics.track({ userId, event: name, properties });
const before = await used();
for (let i = 100; i < EVENTS; i++) analytics.track({ userId, event: name, properties });
const perEvent = ((await used()) - before) / (EVENTS - 100);
process.send({ perEvent, bytes, pending: analytics.pendingCount }, () => process.exit());
