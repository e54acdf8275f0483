import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { AnalyticsModule, type AnalyticsModuleOptions, AnalyticsService, type Message } from 'nestjs-analytics-relay';

import type { Afterwards } from '../../support/clean-ups.js';
import { listen } from '../../support/platforms.js';
import { Receiver } from '../../support/receiver.js';
import { LogLines } from '../../support/relay.js';
import { waitFor } from '../../support/wait-for.js';

/** What a test sets of its application. */
export interface CollectingAppOptions extends ModuleMetadata {
  adapter?: AbstractHttpAdapter;
  /** Makes the application as a `main.ts` does, in place of Nest's testing module. */
  byNestFactory?: boolean;
  options?: Partial<AnalyticsModuleOptions>;
  /** Sets up the application before it listens. */
  prepare?: (app: INestApplication) => unknown;
}

async function createByTesting(metadata: ModuleMetadata, adapter: AbstractHttpAdapter, log: LogLines) {
  const testing = await Test.createTestingModule(metadata).setLogger(log).compile();
  const app = testing.createNestApplication(adapter);
  app.useLogger(log);
  return app;
}

function createByNestFactory(metadata: ModuleMetadata, adapter: AbstractHttpAdapter, log: LogLines) {
  class AppModule {}
  return NestFactory.create({ module: AppModule, ...metadata }, adapter, { logger: log, abortOnError: false });
}

/** An application that records events, and the endpoint that it posts them to. */
export class CollectingApp {
  private constructor(
    readonly app: INestApplication,
    readonly host: string,
    readonly log: LogLines,
    readonly endpoint: Receiver,
  ) {}

  static async start(afterwards: Afterwards, given: CollectingAppOptions): Promise<CollectingApp> {
    const { adapter = new ExpressAdapter(), byNestFactory, options, prepare, imports = [], ...rest } = given;
    const endpoint = await Receiver.start();
    afterwards(() => endpoint.stop());
    const log = new LogLines();
    const collecting = AnalyticsModule.forRoot({
      writeKey: 'wk_shop',
      host: `http://127.0.0.1:${endpoint.port}`,
      ...options,
    });
    const metadata = { ...rest, imports: [collecting, ...imports] };
    const app = await (byNestFactory
      ? createByNestFactory(metadata, adapter, log)
      : createByTesting(metadata, adapter, log));
    afterwards(() => app.close());
    await prepare?.(app);
    return new CollectingApp(app, await listen(app), log, endpoint);
  }

  /** What the endpoint has got. */
  get collected(): Message[] {
    return this.endpoint.webhooks.flatMap(({ body }) => body.batch as Message[]);
  }

  /** All that has been recorded so far, as the endpoint got it. */
  async events(): Promise<Message[]> {
    await this.app.get(AnalyticsService).flush();
    return this.collected;
  }

  /** All that has been recorded, once there are as many events. */
  async eventually(count: number): Promise<Message[]> {
    await waitFor(
      async () => (await this.events()).length >= count,
      () => `${count} events, got ${JSON.stringify(this.collected)}`,
    );
    return this.collected;
  }
}
