// A relay that is to be killed or suspended. It is told over IPC where its file is, so that it can be started ahead of time, and
// tells what it has settled: an event is sent once its outcome is durable.
import 'reflect-metadata';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

class CrashApp {}
let relay;

async function start({ path, url, delivery }) {
  const app = await NestFactory.create(
    {
      module: CrashApp,
      imports: [
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: 'wk_shop' }],
          destinations: [{ urls: [url] }],
          queue: sqliteQueue({ path, retention: { delivered: { count: 1_000_000 } } }),
          delivery: { allowedNetworks: ['127.0.0.0/8'], ...delivery },
        }),
      ],
    },
    { logger: false },
  );
  app.enableShutdownHooks(['SIGTERM'], { useProcessExit: true });
  relay = app.get(WebhookDestinationService);
  relay.events$.subscribe(({ type, messageId }) => process.send({ settled: type, messageId }));
  await app.listen(0, '127.0.0.1');
  return { host: await app.getUrl() };
}

async function records() {
  const all = [];
  for (let after; ;) {
    const page = await relay.deliveries({}, { limit: 1_000, after });
    all.push(...page.map(({ messageId, state, attempts }) => ({ messageId, state, attempts })));
    if (page.length < 1_000) return { records: all };
    after = page.at(-1).id;
  }
}

process.on('message', (order) => {
  const work = order.start
    ? start(order.start)
    : order.counts
      ? relay.stats().then((counts) => ({ counts }))
      : records();
  void work.then((answer) => process.send(answer));
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
