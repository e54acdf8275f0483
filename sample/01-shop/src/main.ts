import 'reflect-metadata';

import type { INestApplication } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';

import { printWelcome } from './welcome.js';
import { ReceiverModule } from './receiver/receiver.module.js';
import { ShopModule } from './shop/shop.module.js';

// The receiver stands for somebody else's server: it starts first and ends last.
const receiver = await NestFactory.create(ReceiverModule, { logger: ['error', 'warn'], rawBody: true });
const config = receiver.get(ConfigService);
await listen(receiver, 'RECEIVER_PORT');

const shop = await NestFactory.create(ShopModule, { logger: ['error', 'warn'] });
await listen(shop, 'PORT');

printWelcome(config);

let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (isStopping) return;
    isStopping = true;
    console.log('\nDelivering queued events ...');
    void shop
      .close()
      .then(() => receiver.close())
      .then(() => console.log('Stopped.'));
  });
}

async function listen(app: INestApplication, setting: string): Promise<void> {
  const port = config.getOrThrow<string>(setting);
  await app.listen(port).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    console.error(`Port ${port} is in use. Stop the program that uses it, or set ${setting} in sample/01-shop/.env`);
    process.exit(1);
  });
}
