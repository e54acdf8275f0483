// An application that forwards, under the SDK of OpenTelemetry with the instrumentation of node:http. Each span that ends
// is a line of JSON on its standard output, and outlives the process so.
// Configured by one JSON argument: { database, urls }.
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

const { NestFactory } = await import('@nestjs/core');
const { sqliteQueue, WebhookDestinationModule } = await import('nestjs-analytics-relay');
const { openTelemetry } = await import('nestjs-analytics-relay/opentelemetry');

const { database, urls } = JSON.parse(process.argv[2]);

class RelayApp {}
const app = await NestFactory.create(
  {
    module: RelayApp,
    imports: [
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: [{ urls }],
        queue: sqliteQueue({ path: database }),
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 100 },
        telemetry: openTelemetry(),
      }),
    ],
  },
  { logger: false },
);
await app.listen(0, '127.0.0.1');
console.log(`listening on ${await app.getUrl()}`);
