// A relay on Fastify with HTTP/2, which gets a body that is too large. Writes the status of its answer.
import { once } from 'node:events';
import { connect } from 'node:http2';

import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { memoryQueue, WebhookDestinationModule } from 'nestjs-analytics-relay';

class AppModule {}
const relay = WebhookDestinationModule.forRoot({
  sources: [{ name: 'shop', writeKey: 'wk_shop' }],
  destinations: [],
  queue: memoryQueue(),
});
const adapter = new FastifyAdapter({ http2: true });
const app = await NestFactory.create({ module: AppModule, imports: [relay] }, adapter, { logger: false });
await app.listen(0, '127.0.0.1');
const session = connect(`http://127.0.0.1:${app.getHttpServer().address().port}`);
const stream = session.request({ ':method': 'POST', ':path': '/v1/batch', authorization: 'Bearer wk_shop' });
stream.end(' '.repeat(600_000));
const [headers] = await once(stream, 'response');
process.stdout.write(String(headers[':status']));
await once(stream.resume(), 'close');
session.destroy();
await app.close();
