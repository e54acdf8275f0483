// An application that collects, and then one that forwards, on the Bun that runs this file.
import 'reflect-metadata';

import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

import { NestFactory } from '@nestjs/core';

const [, , shouldForward] = process.argv;

const builds = [
  ['ES modules', await import('nestjs-analytics-relay')],
  ['CommonJS', createRequire(import.meta.url)('nestjs-analytics-relay')],
];

/** A server that takes one request. */
async function receive() {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      response.end('{}');
      server.emit('received', JSON.parse(body));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, received: once(server, 'received'), url: `http://127.0.0.1:${server.address().port}` };
}

const start = (module, dynamic) =>
  NestFactory.createApplicationContext({ module, imports: [dynamic] }, { logger: ['error'], abortOnError: false });

async function collects({ AnalyticsModule, AnalyticsService }) {
  const { server, received, url } = await receive();
  const app = await start(
    class ShopModule {},
    AnalyticsModule.forRoot({ writeKey: 'wk', host: url, flushInterval: 10 }),
  );
  app.get(AnalyticsService).track({ userId: 'u', event: 'Ordered' });
  const [{ batch }] = await received;
  assert.strictEqual(batch[0].event, 'Ordered');
  await app.close();
  server.close();
}

async function forwards({ memoryQueue, WebhookDestinationModule, WebhookDestinationService }) {
  const { server, received, url } = await receive();
  const module = WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: 'wk' }],
    destinations: [{ urls: [url] }],
    queue: memoryQueue(),
    delivery: { allowedNetworks: ['127.0.0.0/8'] },
    ingest: false,
  });
  try {
    const app = await start(class RelayModule {}, module);
    await app.get(WebhookDestinationService).accept('wk', [{ type: 'track', userId: 'u', event: 'Ordered' }]);
    const [{ event }] = await received;
    assert.strictEqual(event, 'Ordered');
    await app.close();
  } finally {
    server.close();
  }
}

for (const [format, build] of builds) {
  await collects(build);
  if (shouldForward === 'yes') await forwards(build);
  else
    await assert.rejects(forwards(build), {
      message: /^WebhookDestinationModule needs Bun 1\.4\.0 or later, and this is Bun /,
    });
  console.log(
    `Bun ${process.versions.bun}  ${format}, collects, ${shouldForward === 'yes' ? 'forwards' : 'refuses to forward'}: passed`,
  );
}
