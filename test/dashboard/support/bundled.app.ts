import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { memoryQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

@Module({
  imports: [
    WebhookDestinationModule.forRoot({
      sources: [],
      destinations: [],
      queue: memoryQueue(),
      ...(process.env.ADMIN_TOKEN && { admin: { token: process.env.ADMIN_TOKEN } }),
    }),
  ],
})
class AppModule {}

/** An application that a bundler makes one file of; it says where it listens. */
async function start(): Promise<void> {
  const app = await NestFactory.create(AppModule, new ExpressAdapter(), { logger: false });
  await app.listen(0, '127.0.0.1');
  console.log(await app.getUrl());
}

void start();
