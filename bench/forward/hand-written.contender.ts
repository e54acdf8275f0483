import { createHmac } from 'node:crypto';

import { HttpModule, HttpService } from '@nestjs/axios';
import { Body, Controller, HttpCode, Injectable, Module, type OnModuleInit, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { firstValueFrom, from, mergeMap, Subject } from 'rxjs';

import { Counter } from '../support/counter.js';
import type { Contender } from './contender.js';
import { CONCURRENCY, SECRET, type TrackMessage, webhookBody } from '../support/messages.js';

/** Where the forwarder posts to, set before the application is made. */
let receiver = '';

/** What an application writes by hand: a controller, a Subject, `mergeMap` and `HttpService`; a crash loses all. */
@Injectable()
class ForwardService implements OnModuleInit {
  readonly delivered = new Counter();
  readonly messages$ = new Subject<TrackMessage>();

  constructor(private readonly http: HttpService) {}

  onModuleInit(): void {
    this.messages$
      .pipe(mergeMap((message) => this.forward(message), CONCURRENCY))
      .subscribe(() => this.delivered.increment());
  }

  async forward(message: TrackMessage): Promise<void> {
    const body = webhookBody(message);
    const signature = createHmac('sha1', SECRET).update(body).digest('hex');
    await firstValueFrom(
      this.http.post(receiver, body, {
        headers: {
          'Content-Type': 'application/json',
          'X-Message-Id': message.messageId,
          'X-Signature': signature,
        },
      }),
    );
  }
}

@Controller('v1')
class BatchController {
  constructor(private readonly forwarder: ForwardService) {}

  @Post('batch')
  @HttpCode(200)
  batch(@Body() { batch }: { batch: TrackMessage[] }): { success: true } {
    for (const message of batch) this.forwarder.messages$.next(message);
    return { success: true };
  }
}

@Module({ imports: [HttpModule], controllers: [BatchController], providers: [ForwardService] })
class ForwardModule {}

export const handWritten: Contender = {
  async queue(messages, url) {
    receiver = url;
    const app = await NestFactory.createApplicationContext(ForwardModule, { logger: ['error'] });
    const forwarder = app.get(ForwardService);
    return {
      start: () =>
        new Promise((resolve, reject) => {
          from(messages)
            .pipe(mergeMap((message) => forwarder.forward(message), CONCURRENCY))
            .subscribe({ complete: resolve, error: reject });
        }),
      close: () => app.close(),
    };
  },

  async serve(url) {
    receiver = url;
    const app = await NestFactory.create(ForwardModule, new FastifyAdapter(), { logger: ['error'] });
    await app.listen(0, '127.0.0.1');
    return {
      url: await app.getUrl(),
      delivered: app.get(ForwardService).delivered.reached,
      close: () => app.close(),
    };
  },
};
