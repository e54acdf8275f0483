import 'reflect-metadata';

import { once } from 'node:events';

import { NestFactory } from '@nestjs/core';

import { createReceiver } from './receiver.js';
import { TenantsModule } from './tenants.module.js';

const { PORT = '3000', RECEIVER_PORT = '3001' } = process.env;
const receiver = createReceiver();
const app = await NestFactory.create(TenantsModule, { logger: ['error', 'warn'] });
try {
  await once(receiver.listen(Number(RECEIVER_PORT), 'localhost'), 'listening');
  await app.listen(PORT);
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  console.error(code === 'EADDRINUSE' ? `${message}. Set PORT or RECEIVER_PORT` : message);
  process.exit(1);
}
console.log(`Open http://localhost:${PORT} and sign in as ada@acme.example with the password acme.`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void app.close().then(() => receiver.close()));
}
