import 'reflect-metadata';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AnalyticsModule, sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

const { QUEUE_FILE, HOOK_URL } = process.env as Record<string, string>;

@Module({
  imports: [
    AnalyticsModule.forRoot({ writeKey: 'wk_shop' }),
    WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations: [{ urls: [HOOK_URL] }],
      queue: sqliteQueue({ path: QUEUE_FILE }),
      delivery: { allowedNetworks: ['127.0.0.0/8'] },
    }),
  ],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  console.log(`listening on ${await app.getUrl()}`);
}

void main();
