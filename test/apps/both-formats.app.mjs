// Collects with the CommonJS copy of the package and forwards with the ES module copy, in one application.
import 'reflect-metadata';

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NestFactory } from '@nestjs/core';
import { sqliteQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';

const { AnalyticsModule, AnalyticsService } = createRequire(import.meta.url)('nestjs-analytics-relay');

const folder = mkdtempSync(join(tmpdir(), 'relay-'));
const bodies = [];
const receiver = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  bodies.push(JSON.parse(Buffer.concat(chunks)));
  response.end();
}).listen(0, '127.0.0.1');
await new Promise((resolve) => receiver.once('listening', resolve));

class App {}
const app = await NestFactory.createApplicationContext(
  {
    module: App,
    imports: [
      AnalyticsModule.forRoot({ writeKey: 'wk_shop' }),
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ urls: [`http://127.0.0.1:${receiver.address().port}`] }],
        queue: sqliteQueue({ path: join(folder, 'relay.db') }),
        delivery: { allowedNetworks: ['127.0.0.0/8'] },
      }),
    ],
  },
  { logger: ['error'] },
);
const forwarded = app.get(WebhookDestinationService);
app.get(AnalyticsService).track({ userId: 'u1', event: 'Order Completed' });
const delivered = new Promise((resolve) => forwarded.events$.subscribe(resolve));
await app.get(AnalyticsService).flush();
await delivered;
await app.close();
receiver.close();
rmSync(folder, { recursive: true });
console.log(`accepted ${bodies.length}, delivered ${bodies[0].event}`);
