// A relay for a fuzz test, as a process that tells its heap. Configured by one JSON argument; needs --expose-gc.
import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

const { platform, database, url } = JSON.parse(process.argv[2]);

/** Each request as if from another client: these tests send more than one may. */
let requests = 0;
const clientAddress = () => `10.0.${(requests++ >> 8) % 4}.${requests % 256}`;

class FuzzedApp {}
const app = await NestFactory.create(
  {
    module: FuzzedApp,
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ urls: [url], sharedSecret: 'shh' }],
        queue: sqliteQueue({ path: database }),
        ingest: { clientAddress },
        delivery: { allowedNetworks: ['127.0.0.0/8'] },
      }),
    ],
  },
  platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter(),
  { logger: ['error', 'warn'] },
);
await app.listen(0, '127.0.0.1');
const relay = app.get(WebhookDestinationService);

const answers = {
  port: () => app.getHttpServer().address().port,
  undelivered: async () => {
    const states = ['queued', 'delivering', 'waiting', 'dead'].map((state) =>
      relay.deliveries({ state }, { limit: 2 }),
    );
    return (await Promise.all(states)).flat();
  },
  heap: () => {
    for (let i = 0; i < 3; i++) globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
  rss: () => process.memoryUsage.rss(),
};
process.on('message', async (question) => process.send({ question, answer: await answers[question]() }));
process.on('disconnect', () => app.close());
process.send('listening');
