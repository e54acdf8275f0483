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
// A delivering process has port 0, which is any free one: nobody needs to know it.
await app.listen(Number(process.env.PORT), '127.0.0.1').catch((error: NodeJS.ErrnoException) => {
  console.error(`[${name}] ${error.code === 'EADDRINUSE' ? `Port ${process.env.PORT} is in use` : error.message}`);
  process.exit(1);
});
console.log(`[${name}] ready`);
process.send?.('ready');
