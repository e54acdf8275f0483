// What an application finds that has the newest @nestjs/schedule, and bullmq 5 for a purpose of its own.
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { memoryQueue, WebhookDestinationModule, type WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';

@Module({})
class CheckModule {}

async function start(queue: WebhookDestinationModuleOptions['queue']) {
  const module: DynamicModule = {
    module: CheckModule,
    imports: [ScheduleModule.forRoot(), WebhookDestinationModule.forRoot({ sources: [], destinations: [], queue })],
  };
  return NestFactory.createApplicationContext(module, { logger: ['error', 'warn'], abortOnError: false });
}

async function main() {
  const app = await start(memoryQueue());
  console.log(`intervals: ${app.get(SchedulerRegistry).getIntervals().join(', ')}`);
  await app.close();
  await start(bullmqQueue({ connection: 'redis://127.0.0.1:1' })).catch((error: Error) => console.log(error.message));
}
void main();
