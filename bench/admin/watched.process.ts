// A relay with the admin API, to be watched.
import 'reflect-metadata';

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

import { SECRET, WRITE_KEY } from '../support/messages.js';

const [receiver, token] = process.argv.slice(2) as [string, string];
const folder = mkdtempSync(join(tmpdir(), 'relay-bench-'));

const app = await NestFactory.create(
  WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: WRITE_KEY }],
    destinations: [{ urls: [receiver], sharedSecret: SECRET }],
    queue: sqliteQueue({ path: join(folder, 'relay.db') }),
    delivery: { allowedNetworks: ['127.0.0.0/8'] },
    admin: { token },
  }),
  { logger: false },
);
await app.listen(0, '127.0.0.1');
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!((user + system) / 1_000);
});
process.on('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
process.send!({ url: await app.getUrl() });
