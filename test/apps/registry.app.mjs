// Changes destinations of a stored registry at random and without end; tells of each change before it and after it.
// Configured by one JSON argument: a prefix of the names, and the place of the queue.
import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

import { sharedQueue } from './shared-queue.mjs';

const { prefix, path, shared } = JSON.parse(process.argv[2]);

class RegistryApp {}
const relayModule = WebhookDestinationModule.forRoot({
  registry: 'store',
  queue: path ? sqliteQueue({ path }) : sharedQueue(shared),
});
const app = await NestFactory.createApplicationContext(
  { module: RegistryApp, imports: [relayModule] },
  { logger: ['error'] },
);
const { destinations } = app.get(WebhookDestinationService);
const has = new Map((await destinations.list({ limit: 1_000 })).map(({ name }) => [name, true]));

process.send('ready');
for (let count = 0; ; count++) {
  const name = `${prefix}-${Math.floor(Math.random() * 8)}`;
  const change = has.get(name) ? ['update', 'pause', 'resume', 'remove'][Math.floor(Math.random() * 4)] : 'create';
  const note = { name, change, count: String(count) };
  const headers = { 'X-Key': `s3cret-${prefix}-${count}` };
  process.send({ begun: note });
  if (change === 'create') await destinations.create({ name, urls: ['https://customer.example/hook'], headers });
  else if (change === 'update') await destinations.update(name, { metadata: { count: note.count }, headers });
  else await destinations[change](name);
  has.set(name, change !== 'remove');
  process.send({ done: note });
}
