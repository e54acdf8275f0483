// One way of forwarding, in a process of its own. Arguments: its name, and its place as JSON.
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import { Counter } from '../support/counter.js';
import { BATCH } from '../support/messages.js';
import { PEERS } from './peers/index.js';
import type { Place } from './peers/peer.js';

/** What the bench asks for. */
export type PeerOrder =
  | { do: 'measure' }
  /** Records messages; with a rate, so many a second, each in a turn of its own, and writes a byte for each. */
  | { do: 'record'; prefix: string; count: number; rate?: number }
  | { do: 'cost' };

export interface PeerCost {
  /** CPU time of all threads since `measure`, in ms. */
  cpu: number;
  /** Largest resident memory, in MB. */
  memory: number;
}

/** Messages that may wait for the queue: as many as the load has in flight over HTTP. */
const MAX_UNDER_WAY = 8 * BATCH;

const [name, placeText] = process.argv.slice(2) as [string, string];
const place = JSON.parse(placeText) as Place;
const started = await PEERS[name]!.peer.start(place);

function record(messageId: string, onAccepted: () => void): void {
  if ('url' in started) throw new Error(`${name} takes batches over HTTP`);
  started.record(messageId, onAccepted);
}

/** Records as fast as the queue accepts, a batch in each turn of the event loop. */
async function recordAll(prefix: string, count: number): Promise<void> {
  const accepted = new Counter();
  for (let index = 0; index < count; index++) {
    if (index % BATCH === 0) {
      await nextTurn();
      await accepted.reached(index - MAX_UNDER_WAY);
    }
    record(`${prefix}-${index}`, accepted.increment);
  }
}

async function recordAtRate(prefix: string, count: number, rate: number): Promise<void> {
  const file = openSync(join(place.folder, 'recorded'), 'a');
  const begin = performance.now();
  for (let index = 0; index < count; index++) {
    while (begin + (index * 1_000) / rate > performance.now()) await sleep(1);
    await nextTurn();
    record(`${prefix}-${index}`, () => undefined);
    writeSync(file, '.');
  }
}

let cpu = process.cpuUsage();
function run(order: PeerOrder): void {
  if (order.do === 'measure') {
    cpu = process.cpuUsage();
  } else if (order.do === 'cost') {
    const { user, system } = process.cpuUsage(cpu);
    process.send!({ cpu: (user + system) / 1_000, memory: process.resourceUsage().maxRSS / 1_024 } satisfies PeerCost);
  } else if (order.rate === undefined) {
    void recordAll(order.prefix, order.count);
  } else {
    void recordAtRate(order.prefix, order.count, order.rate);
  }
}

process.on('message', run);
process.on('disconnect', () => process.exit());
process.send!({ url: 'url' in started ? started.url : undefined });
