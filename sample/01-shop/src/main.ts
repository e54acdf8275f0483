import 'reflect-metadata';

import { ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';

import { printWelcome } from './welcome.js';
import { ReceiverModule } from './receiver/receiver.module.js';
import { ShopModule } from './shop/shop.module.js';

// The receiver stands for somebody else's server: it starts first and ends last.
const receiver = await NestFactory.create(ReceiverModule, { logger: ['error', 'warn'], rawBody: true });
const config = receiver.get(ConfigService);
await receiver.listen(config.getOrThrow<string>('RECEIVER_PORT'));

const shop = await NestFactory.create(ShopModule, { logger: ['error', 'warn'] });
await shop.listen(config.getOrThrow<string>('PORT'));

printWelcome(config);

let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (isStopping) return;
    isStopping = true;
    console.log('\nDelivering what is queued ...');
    void shop
      .close()
      .then(() => receiver.close())
      .then(() => console.log('Done.'));
  });
}
