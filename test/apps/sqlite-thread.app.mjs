// A relay whose SQLite thread can be ended, over IPC: 'end' has it throw while it waits for calls.
import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

const { path, url, maxBytes } = JSON.parse(process.argv[2]);
let queue;

class ThreadApp {}
const app = await NestFactory.create(
  {
    module: ThreadApp,
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ urls: [url] }],
        queue: () => (queue = sqliteQueue({ path, maxBytes })()),
        delivery: { allowedNetworks: ['127.0.0.0/8'], concurrency: 4 },
      }),
    ],
  },
  { logger: ['error', 'warn', 'log'] },
);
app.enableShutdownHooks(['SIGTERM'], { useProcessExit: true });
await app.listen(0, '127.0.0.1');

process.on('message', () => {
  const { worker } = queue.store.thread;
  worker.once('exit', () => process.send({ ended: true }));
  worker.postMessage(null); // a list of calls is expected
});
process.on('disconnect', () => process.exit());
process.send({ host: await app.getUrl() });
