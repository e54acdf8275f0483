// One of the processes that deliver from a queue that they share.
import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';

import { startWorker } from './bullmq.contender.js';
import { RelayModule } from '../support/relay.module.js';
import { type SharedEngine, storeQueue } from './shared.stores.js';

const [kind, prefix, receiver] = process.argv.slice(2) as [SharedEngine | 'hand-written', string, string];

async function start(): Promise<void> {
  if (kind === 'hand-written') return startWorker(prefix, receiver);
  const queue = storeQueue(kind, prefix);
  const app = await NestFactory.create(RelayModule.with(queue, receiver, 'undici', { mode: 'deliver' }), {
    logger: ['error'],
  });
  await app.init();
}

let cpu: NodeJS.CpuUsage;
process.on('message', (order: 'start' | 'measure' | 'stop') => {
  if (order === 'start') {
    void start();
  } else if (order === 'measure') {
    cpu = process.cpuUsage();
  } else {
    const { user, system } = process.cpuUsage(cpu);
    process.send!({ cpu: (user + system) / 1_000 });
  }
});
process.on('disconnect', () => process.exit());
process.send!('ready');
