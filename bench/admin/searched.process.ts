// A relay with many deliveries and the admin API, to be searched.
import 'reflect-metadata';

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { NestFactory } from '@nestjs/core';
import { memoryQueue, sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

import { trackMessage, WRITE_KEY } from '../support/messages.js';

const [engine, receiver, token, count] = process.argv.slice(2) as [string, string, string, string];
const folder = mkdtempSync(join(tmpdir(), 'relay-bench-'));
const retention = { delivered: { count: Number(count) * 2 } };

const app = await NestFactory.create(
  WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: WRITE_KEY }],
    destinations: [{ urls: [receiver] }],
    queue:
      engine === 'memory' ? memoryQueue({ retention }) : sqliteQueue({ path: join(folder, 'relay.db'), retention }),
    delivery: { allowedNetworks: ['127.0.0.0/8'] },
    admin: { token },
  }),
  { logger: false },
);
await app.listen(0, '127.0.0.1');
process.on('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
const relay = app.get(WebhookDestinationService);
await relay.accept(
  WRITE_KEY,
  Array.from({ length: Number(count) }, (_, index) => trackMessage(`held${index}`)),
);
const isOpen = async () => (await relay.stats()).some(({ state }) => state !== 'delivered');
while (await isOpen()) await sleep(100);
process.send!({ url: await app.getUrl() });
