import type { Type } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { sqliteQueue, WebhookDestinationModule, type WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';

import { listen } from '../../support/platforms.js';
import { Receiver } from '../../support/receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

export const WRITE_KEY = 'wk_shop';
export const SHARED_SECRET = 'shh';

/** Options of {@link startSignedRelay}. */
export interface SignedRelayOptions {
  createAdapter: () => AbstractHttpAdapter;
  afterwards: (cleanUp: () => unknown) => void;
  ingest?: WebhookDestinationModuleOptions['ingest'];
  /** The host application's own. */
  controllers?: Type[];
}

/** An application with the ingest endpoint, and the receiver that it signs its webhooks for. */
export async function startSignedRelay(options: SignedRelayOptions): Promise<{ host: string; receiver: Receiver }> {
  const { createAdapter, afterwards, ingest, controllers } = options;
  const receiver = await Receiver.start();
  afterwards(() => receiver.stop());
  const folder = await temporaryFolder();
  afterwards(folder.remove);
  const testing = await Test.createTestingModule({
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: WRITE_KEY }],
        destinations: [{ urls: [receiver.url], sharedSecret: SHARED_SECRET }],
        queue: sqliteQueue({ path: folder.path('relay.db') }),
        delivery: { allowedNetworks: ['127.0.0.0/8'] },
        ingest,
      }),
    ],
    controllers,
  }).compile();
  const app = testing.createNestApplication(createAdapter());
  afterwards(() => app.close());
  return { host: await listen(app), receiver };
}
