import { createHmac, randomUUID } from 'node:crypto';

import { HttpModule, HttpService } from '@nestjs/axios';
import { BullModule, InjectQueue, Processor, WorkerHost } from '@nestjs/bullmq';
import { Body, Controller, type DynamicModule, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Job, Queue } from 'bullmq';
import { firstValueFrom } from 'rxjs';

import { Counter } from '../support/counter.js';
import type { Contender } from './contender.js';
import { CONCURRENCY, SECRET, type TrackMessage, webhookBody } from '../support/messages.js';
import { REDIS_URL, removePlace } from './shared.stores.js';

let receiver = '';

const toJob = (data: TrackMessage) => ({
  name: 'forward',
  data,
  opts: {
    jobId: data.messageId,
    attempts: 10,
    backoff: { type: 'exponential', delay: 10_000 },
    removeOnComplete: { count: 10_000 },
  },
});

/** What an application writes by hand with BullMQ: `addBulk` of what was posted, and a worker that posts with axios. */
@Processor('webhooks', { concurrency: CONCURRENCY, autorun: false })
class ForwardWorker extends WorkerHost {
  readonly delivered = new Counter();

  constructor(private readonly http: HttpService) {
    super();
  }

  async process({ data }: Job<TrackMessage>): Promise<void> {
    const body = webhookBody(data);
    const signature = createHmac('sha1', SECRET).update(body).digest('hex');
    await firstValueFrom(
      this.http.post(receiver, body, {
        headers: { 'Content-Type': 'application/json', 'X-Message-Id': data.messageId, 'X-Signature': signature },
      }),
    );
    this.delivered.increment();
  }
}

@Controller('v1')
class BatchController {
  constructor(@InjectQueue('webhooks') readonly queue: Queue<TrackMessage>) {}

  @Post('batch')
  @HttpCode(200)
  async batch(@Body() { batch }: { batch: TrackMessage[] }): Promise<{ success: true }> {
    await this.queue.addBulk(batch.map(toJob));
    return { success: true };
  }
}

@Module({})
class ForwardModule {
  static with(prefix: string): DynamicModule {
    return {
      module: ForwardModule,
      imports: [
        HttpModule,
        BullModule.forRoot({ connection: { url: REDIS_URL }, prefix }),
        BullModule.registerQueue({ name: 'webhooks' }),
      ],
      controllers: [BatchController],
      providers: [ForwardWorker],
    };
  }
}

/** Fills a queue as the controller does, in larger groups. */
export async function fillByHand(prefix: string, messages: TrackMessage[]): Promise<void> {
  const app = await NestFactory.createApplicationContext(ForwardModule.with(prefix), { logger: ['error'] });
  const { queue } = app.get(BatchController);
  for (let start = 0; start < messages.length; start += 500) {
    await queue.addBulk(messages.slice(start, start + 500).map(toJob));
  }
  await app.close();
}

/** Delivers such a queue. */
export async function startWorker(prefix: string, url: string): Promise<void> {
  receiver = url;
  const app = await NestFactory.createApplicationContext(ForwardModule.with(prefix), { logger: ['error'] });
  void app.get(ForwardWorker).worker.run();
}

export const handWrittenBullmq: Contender = {
  async queue(messages, url) {
    receiver = url;
    const prefix = `bench_${randomUUID().slice(0, 8)}`;
    await fillByHand(prefix, messages);
    const { length } = messages;
    const app = await NestFactory.createApplicationContext(ForwardModule.with(prefix), { logger: ['error'] });
    const { worker, delivered } = app.get(ForwardWorker);
    return {
      start: async () => {
        void worker.run();
        await delivered.reached(length);
      },
      close: async () => {
        await app.close();
        await removePlace('redis', prefix);
      },
    };
  },

  async serve(url) {
    receiver = url;
    const prefix = `bench_${randomUUID().slice(0, 8)}`;
    const app = await NestFactory.create(ForwardModule.with(prefix), new FastifyAdapter(), { logger: ['error'] });
    await app.listen(0, '127.0.0.1');
    const { worker, delivered } = app.get(ForwardWorker);
    void worker.run();
    return {
      url: await app.getUrl(),
      delivered: delivered.reached,
      close: async () => {
        await app.close();
        await removePlace('redis', prefix);
      },
    };
  },
};
