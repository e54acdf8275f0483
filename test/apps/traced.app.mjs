// An application under the SDK of OpenTelemetry with the instrumentation of node:http. Each span that ends is a line of
// JSON on its standard output, and outlives the process so. With `record`, `POST /orders` records an event; it forwards
// what it gets, unless `host` names the relay that does.
// Configured by one JSON argument: { database, urls, platform, record, host }.
import 'reflect-metadata';

import { createRequire } from 'node:module';

import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

const exporter = {
  export: (spans, done) => {
    for (const span of spans) {
      const { name, kind, links, parentSpanContext, attributes } = span;
      const { traceId, spanId } = span.spanContext();
      const linked = links.map(({ context }) => [context.traceId, context.spanId]);
      console.log(
        JSON.stringify({ name, kind, traceId, spanId, parent: parentSpanContext?.spanId, linked, attributes }),
      );
    }
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
};
const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
tracerProvider.register();
registerInstrumentations({ tracerProvider, instrumentations: [new HttpInstrumentation()] });
createRequire(import.meta.url)('node:http');

const { Controller, Post } = await import('@nestjs/common');
const { NestFactory } = await import('@nestjs/core');
const { FastifyAdapter } = await import('@nestjs/platform-fastify');
const { AnalyticsModule, sqliteQueue, Track, WebhookDestinationModule } = await import('nestjs-analytics-relay');
const { openTelemetry } = await import('nestjs-analytics-relay/opentelemetry');

const { database, urls, platform, record, host } = JSON.parse(process.argv[2]);
const telemetry = openTelemetry({ source: 'shop' });

class OrdersController {
  order() {
    return {};
  }
}
const order = Object.getOwnPropertyDescriptor(OrdersController.prototype, 'order');
Track('Order Completed', { userId: () => 'u1' })(OrdersController.prototype, 'order', order);
Post()(OrdersController.prototype, 'order', order);
Object.defineProperty(OrdersController.prototype, 'order', order);
Controller('orders')(OrdersController);

const recording = () => AnalyticsModule.forRoot({ writeKey: 'wk_shop', host, flushInterval: 1, telemetry });
const forwarding = () =>
  WebhookDestinationModule.forRoot({
    sources: [{ name: 'shop', writeKey: 'wk_shop' }],
    destinations: [{ urls }],
    queue: sqliteQueue({ path: database }),
    delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 100 },
    telemetry,
  });

class TracedApp {}
const app = await NestFactory.create(
  {
    module: TracedApp,
    imports: [...(record ? [recording()] : []), ...(host ? [] : [forwarding()])],
    controllers: record ? [OrdersController] : [],
  },
  ...(platform === 'Fastify' ? [new FastifyAdapter()] : []),
  { logger: false },
);
await app.listen(0, '127.0.0.1');
console.log(`listening on ${await app.getUrl()}`);
