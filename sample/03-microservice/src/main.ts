import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';

import type { OrderRequest } from './orders.controller.js';
import { OrdersModule } from './orders.module.js';
import { startReceiver } from './receiver.js';
import { RelayModule } from './relay.module.js';

const logger: ['fatal'] = ['fatal']; // Nest reports the refund that fails on purpose as an error.
const receiver = await startReceiver(2);
process.env.WEBHOOK_URL = receiver.url;

const relay = await NestFactory.create(RelayModule, { logger });
await relay.listen(0, '127.0.0.1');
process.env.RELAY_URL = await relay.getUrl();

const options = { host: '127.0.0.1', port: Number(process.env.PORT ?? 3010) };
const orders = await NestFactory.createMicroservice<MicroserviceOptions>(OrdersModule, {
  transport: Transport.TCP,
  options,
  logger,
});
await orders.listen().catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE') throw error;
  console.error(`Port ${options.port} is in use. Stop the program that uses it, or set PORT`);
  process.exit(1);
});

const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
const order: OrderRequest = { userId: 'u-1', total: 42 };
console.log('[client]   answered:', await lastValueFrom(client.send<object>('orders.place', order)));
client.emit('orders.refund', { ...order, total: 0 });

await receiver.all;
await client.close();
await orders.close();
await relay.close();
receiver.server.close();
