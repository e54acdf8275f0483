import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { WebhookDestinationService } from 'nestjs-analytics-relay';

import { RelayModule } from './relay.module.js';

const name = `${process.env.RELAY_MODE} ${process.pid}`;
const app = await NestFactory.create(RelayModule, { logger: ['error', 'warn'] });
app.enableShutdownHooks();
app.get(WebhookDestinationService).events$.subscribe(({ type, messageId }) => {
  console.log(`[${name}] ${type}: ${messageId}`);
});
// The port of a delivering process is 0, and so any free one: nobody needs to know it.
await app.listen(Number(process.env.PORT), '127.0.0.1');
console.log(`[${name}] ready`);
