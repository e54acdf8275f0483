import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  type DestinationOptions,
  sqliteQueue,
  WebhookDestinationModule,
  type WebhookDestinationModuleOptions,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';

import type { Afterwards } from './clean-ups.js';
import { listen } from './platforms.js';
import { Receiver } from './receiver.js';
import { temporaryFolder } from './temporary-folder.js';

/** What a test sets of its relay; the rest is one source, `shop`, and one destination. */
export interface RelayAppOptions {
  options?: Partial<WebhookDestinationModuleOptions>;
  destination?: Partial<DestinationOptions>;
  metadata?: ModuleMetadata;
  /** Sets up the application before it listens. */
  prepare?: (app: INestApplication) => unknown;
  bodyParser?: boolean;
}

/** Starts an application that forwards to a receiver of its own; both end with the test. */
export async function startRelayApp(
  afterwards: Afterwards,
  adapter: AbstractHttpAdapter,
  { options, destination, metadata = {}, prepare, bodyParser = true }: RelayAppOptions = {},
) {
  const receiver = await Receiver.start();
  afterwards(() => receiver.stop());
  const folder = await temporaryFolder(afterwards);
  const relayModule = WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: 'wk_shop' }],
    destinations: [{ urls: [receiver.url], ...destination }],
    queue: sqliteQueue({ path: folder.path('relay.db') }),
    delivery: { allowedNetworks: ['127.0.0.0/8'] },
    ...options,
  });
  const testing = await Test.createTestingModule({
    ...metadata,
    imports: [relayModule, ...(metadata.imports ?? [])],
  }).compile();
  const app = testing.createNestApplication(adapter, { bodyParser, logger: false });
  afterwards(() => app.close());
  await prepare?.(app);
  return { app, host: await listen(app), receiver, relay: app.get(WebhookDestinationService) };
}
