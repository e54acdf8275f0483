// The floor of many destinations: bare undici, with the same signature, and as many connections as a relay may open.
import { Client } from 'undici';

import { BATCH, trackMessage } from '../support/messages.js';
import { postWebhook, toWebhook } from '../support/poster.js';
import { receiverUrl } from './address.js';
import { CLIENTS, type ManyCost, type ManyOrder, type ManyStart, MAX_SOCKETS } from './many.interface.js';

const [, count, port] = process.argv.slice(2) as [string, string, string];

/** Connections without a request and the index of their destination, least recently used first. */
const idle = new Map<Client, number>();
const idleOf = Array.from({ length: Number(count) }, (): Client[] => []);
let open = 0;

/** Returns a connection to a destination, in place of another's if there are too many. */
async function take(index: number): Promise<Client> {
  const kept = idleOf[index]!.pop();
  if (kept) {
    idle.delete(kept);
    return kept;
  }
  if (open < MAX_SOCKETS) {
    open++;
  } else {
    const [oldest, of] = idle.entries().next().value!;
    idle.delete(oldest);
    idleOf[of]!.splice(idleOf[of]!.indexOf(oldest), 1);
    await oldest.destroy();
  }
  return new Client(new URL(receiverUrl(index, port)).origin);
}

/** Posts batches, each to one destination, in turn. */
async function deliver({ prefix, messages }: ManyOrder): Promise<ManyCost> {
  const before = process.cpuUsage();
  const from = performance.now();
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < messages / BATCH) {
      const number = next++;
      const index = number % Number(count);
      const connection = await take(index);
      for (let position = 0; position < BATCH; position++) {
        await postWebhook(connection, '/hook', toWebhook(trackMessage(`${prefix}-${number}-${position}`)));
      }
      idle.set(connection, index);
      idleOf[index]!.push(connection);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1_000, elapsed: performance.now() - from, memory: 0, sockets: open, p99: 0 };
}

process.on('disconnect', () => process.exit());
process.on('message', (order: ManyOrder) => void deliver(order).then((cost) => process.send!(cost)));
process.send!({ elapsed: 0, application: 0, cpu: 0, memory: 0 } satisfies ManyStart);
