import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';

import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule);
// As process 1 of a container, Node is not ended by the signal that Nest sends it after the shutdown.
app.enableShutdownHooks([], { useProcessExit: true });
await app.listen(Number(process.env.PORT ?? 3000));
