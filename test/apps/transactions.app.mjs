// Runs transactions until it is killed. Each stores orders and records an event for each; it commits, is rolled back, or
// undoes a part of them. Arguments: package, schema of the queue.
import { randomUUID } from 'node:crypto';

import { NestFactory } from '@nestjs/core';
import { AnalyticsModule, AnalyticsService, WebhookDestinationModule } from 'nestjs-analytics-relay';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';

import { PACKAGES } from '../../compat/orms/packages.mjs';

const [name, schema] = process.argv.slice(2);
const url = process.env.TEST_POSTGRES_URL;
const orm = await PACKAGES[name](url);
const relay = WebhookDestinationModule.forRoot({
  sources: [{ name: 'shop', writeKey: 'wk_shop' }],
  destinations: [{ urls: ['http://127.0.0.1:9'] }],
  queue: postgresQueue({ connection: url, prefix: schema }),
  delivery: { allowedNetworks: ['127.0.0.0/8'] },
  mode: 'ingest',
  ingest: false,
});
const imports = [relay, AnalyticsModule.forRoot({ writeKey: 'wk_shop' })];
const context = await NestFactory.createApplicationContext({ module: class Shop {}, imports }, { logger: ['error'] });
const analytics = context.get(AnalyticsService);

const chance = (share) => Math.random() < share;

async function order(tx) {
  const id = randomUUID();
  await orm.run(tx, `INSERT INTO ${schema}.shop_order (id) VALUES ('${id}')`);
  await analytics.inTransaction(tx).track({ userId: 'u1', event: 'Ordered', messageId: id });
}

async function work(tx) {
  await order(tx);
  if (chance(0.3)) {
    await orm.run(tx, 'SAVEPOINT part');
    await order(tx);
    if (chance(0.5)) await orm.run(tx, 'ROLLBACK TO SAVEPOINT part');
  }
  if (chance(0.3)) throw new Error('rolled back');
}

async function repeat() {
  for (;;) {
    await orm.transact(work).catch((error) => {
      if (error.message !== 'rolled back') process.stderr.write(`${error.stack}\n`);
    });
  }
}

process.stdout.write('ready\n');
await Promise.all([repeat(), repeat(), repeat(), repeat()]);
