import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';

import { exporter } from './instrumentation.js';
import { startReceiver } from './receiver.js';
import { RelayModule } from './relay.module.js';
import { ShopModule } from './shop.module.js';
import { traceTree } from './trace-tree.js';

const logger: ['fatal'] = ['fatal']; // The failed attempt is logged otherwise.
const receiver = await startReceiver();
process.env.WEBHOOK_URL = receiver.url;
const relay = await NestFactory.create(RelayModule, { logger });
await relay.listen(0, '127.0.0.1');
process.env.RELAY_URL = await relay.getUrl();
const shop = await NestFactory.create(ShopModule, { logger });
await shop.listen(0, '127.0.0.1');

await fetch(`${await shop.getUrl()}/orders`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ userId: 'u-1', total: 42 }),
});
await receiver.taken;
await shop.close();

const health = await fetch(`${process.env.RELAY_URL}/health`);
console.log(`[health]   ${health.status} ${await health.text()}`);
const metrics = await fetch(`${process.env.RELAY_URL}/relay/api/metrics`, {
  headers: { Authorization: 'Bearer another-one-for-prometheus' },
});
const attempts = (await metrics.text()).match(/^analytics_relay_delivery_attempts_total.*$/gm) ?? [];
console.log(attempts.map((line) => `[metrics]  ${line}`).join('\n'));
await relay.close();
receiver.server.close();

console.log(`\n${traceTree(exporter.getFinishedSpans())}`);
