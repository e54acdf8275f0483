// Exits while the thread of its SQLite queue is at work.
import { setTimeout } from 'node:timers';

import { sqliteQueue } from 'nestjs-analytics-relay';

const DELIVERIES = 500;

const queue = sqliteQueue({ path: process.argv[2] })();
await queue.open();
await queue.add(
  Array.from({ length: DELIVERIES }, (_, index) => ({
    destination: 'Webhooks',
    source: 'shop',
    messageId: `m${index}`,
    userId: undefined,
    body: Buffer.from('{}'),
    acceptedAt: Date.now(),
  })),
);
// Dead ones are a row each, and reading rows is where the driver spends its time.
const dead = { state: 'dead', reason: 'refused', failedUrls: [], attempt: { startedAt: 1, results: [] } };
queue.consume('Webhooks', DELIVERIES).subscribe((lease) => lease.settle(dead));
await queue.idle();
const list = () => queue.list({ state: 'dead' }, { limit: DELIVERIES }).then(list);
list();
setTimeout(() => process.exit(7), 20 + Math.random() * 30);
