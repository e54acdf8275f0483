import { join } from 'node:path';

import {
  AnalyticsModule,
  AnalyticsService,
  type DeliveryQueueFactory,
  sqliteQueue,
  WebhookDestinationModule,
} from 'nestjs-analytics-relay';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';

import { CONCURRENCY, SECRET, trackMessage, WRITE_KEY } from '../../support/messages.js';
import { listen, type Peer, type Place } from './peer.js';
import { POSTGRES_URL, REDIS_URL } from './stores.js';

export type Engine = 'SQLite' | 'Redis' | 'PostgreSQL';

function queue(engine: Engine, { folder, prefix }: Place): DeliveryQueueFactory {
  if (engine === 'SQLite') return sqliteQueue({ path: join(folder, 'relay.db') });
  if (engine === 'Redis') return bullmqQueue({ connection: REDIS_URL, prefix });
  return postgresQueue({ connection: POSTGRES_URL, prefix });
}

/** The modules of this package, with their defaults, except for the concurrency that all peers have. */
const modules = (engine: Engine, place: Place) => [
  AnalyticsModule.forRoot({ writeKey: WRITE_KEY }),
  WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: WRITE_KEY }],
    destinations: [{ urls: [place.receiver], sharedSecret: SECRET }],
    queue: queue(engine, place),
    delivery: { allowedNetworks: ['127.0.0.0/8'], concurrency: CONCURRENCY },
  }),
];

/** This package, which takes batches over HTTP. */
export const relay = (engine: Engine): Peer => ({
  start: (place) => listen({ imports: modules(engine, place) }),
});

/** This package in the application that records: no HTTP before the queue. */
export const relayInProcess = (engine: Engine): Peer => ({
  async start(place) {
    const { app } = await listen({ imports: modules(engine, place) });
    const analytics = app.get(AnalyticsService);
    return {
      record(messageId, onAccepted) {
        const { userId, event, properties, context } = trackMessage(messageId);
        analytics.track({ userId, event, properties, context }, (error) => {
          if (error) throw error as Error;
          onAccepted();
        });
      },
    };
  },
});
