import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';

import { ShopModule } from './shop.module.js';
import { ShopService } from './shop.service.js';

const app = await NestFactory.createApplicationContext(ShopModule, { logger: ['error', 'warn'] });
const shop = app.get(ShopService);

shop.checkout('u-1', 42);
shop.redeem('u-1', 'SPRING');

// What comes from outside can break a rule that no compiler sees: these two are dropped, and logged without the values.
shop.checkout('u-1', -1);
shop.redeem('u-1', '');

await app.close();
