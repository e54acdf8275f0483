import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';

import { ShopModule } from './shop.module.js';

const { PORT = '3000' } = process.env;
const app = await NestFactory.create(ShopModule, { logger: ['error', 'warn'], abortOnError: false });
app.enableShutdownHooks();
await app.listen(Number(PORT), '127.0.0.1');
console.log(`Open http://localhost:${PORT}`);
