import 'reflect-metadata';

import { Body, Controller, HttpCode, type ModuleMetadata, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

import type { TrackMessage } from '../../support/messages.js';

/** Where an application posts to, and the place in its store that it has for itself. */
export interface Place {
  receiver: string;
  /** A prefix in Redis, or a schema in PostgreSQL. */
  prefix: string;
  /** A folder for files. */
  folder: string;
}

/** An application that has started: it takes batches at `POST /v1/batch` of its URL, or records messages itself. */
export type Started = { url: string } | { record(messageId: string, onAccepted: () => void): void };

/** One way of forwarding. */
export interface Peer {
  start(place: Place): Promise<Started>;
  /** Counts the jobs that its store has still to do. */
  left?(place: Place): Promise<number>;
}

/** What a hand-written application adds its jobs to. */
export abstract class JobQueue {
  abstract add(batch: TrackMessage[]): Promise<unknown>;
}

/** The endpoint of the hand-written applications: answers once the jobs are in the store. */
@Controller('v1')
export class BatchController {
  constructor(private readonly queue: JobQueue) {}

  @Post('batch')
  @HttpCode(200)
  async batch(@Body() { batch }: { batch: TrackMessage[] }): Promise<{ success: true }> {
    await this.queue.add(batch);
    return { success: true };
  }
}

/** Starts an application of these parts. */
export async function listen(metadata: ModuleMetadata) {
  class AppModule {}
  const app = await NestFactory.create({ module: AppModule, ...metadata }, new FastifyAdapter(), { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  return { app, url: await app.getUrl() };
}
