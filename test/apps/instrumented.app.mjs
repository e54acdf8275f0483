// An application under a tracing agent. It posts messages to itself, each in a request of its own, and prints as JSON what
// became of them: the spans, and the async context in which each delivery was made.
// Configured by one JSON argument: { agent, url, control, transport, database, propagateTrace }.
import 'reflect-metadata';

import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';

import { setTimeout as sleep } from 'node:timers/promises';

const options = JSON.parse(process.argv[2]);
const { agent, url, control, transport = 'undici', propagateTrace } = options;

/** Starts the agent, and returns what reads the spans so far. */
const agents = {
  none: () => () => [],
  opentelemetry: async () => {
    const { NodeTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } =
      await import('@opentelemetry/sdk-trace-node');
    const { registerInstrumentations } = await import('@opentelemetry/instrumentation');
    const { UndiciInstrumentation } = await import('@opentelemetry/instrumentation-undici');
    const { HttpInstrumentation } = await import('@opentelemetry/instrumentation-http');
    const exporter = new InMemorySpanExporter();
    const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    tracerProvider.register();
    const instrumentations = [new UndiciInstrumentation(), new HttpInstrumentation()];
    registerInstrumentations({ tracerProvider, instrumentations });
    // Modules that are imported as ES modules are patched by a loader; node:http is required here.
    process.getBuiltinModule('module').createRequire(import.meta.url)('node:http');
    return () => exporter.getFinishedSpans().map((span) => toSpan(span.name, span.attributes));
  },
  sentry: async () => {
    const Sentry = await import('@sentry/node');
    const spans = [];
    Sentry.init({
      dsn: 'http://key@127.0.0.1:9/1',
      tracesSampleRate: 1,
      transport: () => ({ send: () => Promise.resolve({}), flush: () => Promise.resolve(true) }),
    });
    Sentry.getClient().on('spanEnd', (span) => {
      const { description, data = {} } = Sentry.spanToJSON(span);
      spans.push(toSpan(description, data));
    });
    return () => spans;
  },
};

const toSpan = (name, attributes = {}) => ({ name, url: attributes['url.full'] ?? attributes['http.url'] });

const readSpans = await agents[agent]();
const { NestFactory } = await import('@nestjs/core');
const { memoryQueue, sqliteQueue, WebhookDestinationModule, WebhookDestinationService } =
  await import('nestjs-analytics-relay');

const requests = new AsyncLocalStorage();
const contexts = [];

/** What an application may bring: one on node:http, and one on fetch. */
const transports = {
  http: {
    post: ({ url, headers, body }) =>
      new Promise((resolve, reject) => {
        const request = http.request(url, { method: 'POST', headers }, (response) => {
          response.resume().on('end', () => resolve({ status: response.statusCode }));
        });
        request.on('error', reject).end(body);
      }),
  },
  fetch: {
    post: async ({ url, headers, body }) => ({
      status: (await globalThis.fetch(url, { method: 'POST', headers, body })).status,
    }),
  },
};

class App {}
// As in a serverless function, which starts with its first request.
const app = await requests.run('start', async () => {
  const created = await NestFactory.create(
    {
      module: App,
      imports: [
        WebhookDestinationModule.forRoot({
          sources: [{ name: 'shop', writeKey: 'wk_shop' }],
          destinations: [
            {
              urls: [url],
              propagateTrace,
              transform: (body) => {
                contexts.push(requests.getStore() ?? null);
                return body;
              },
            },
          ],
          queue: options.database ? sqliteQueue({ path: options.database }) : memoryQueue(),
          delivery: {
            allowedNetworks: ['127.0.0.0/8'],
            initialRetryDelay: 50,
            transport: transports[transport] ?? transport,
          },
        }),
      ],
    },
    { logger: false },
  );
  await created.listen(0, '127.0.0.1');
  return created;
});
const relay = app.get(WebhookDestinationService);
const ended = new Promise((resolve) => {
  let delivered = 0;
  relay.events$.subscribe(({ type }) => type === 'delivered' && ++delivered === options.messages && resolve());
});
for (let index = 0; index < options.messages; index++) {
  // As a middleware of the application would: each message is accepted in the context of its own request.
  await requests.run(index, () =>
    relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 'Ordered', messageId: `m${index}` }]),
  );
}
await ended;
// That the agent does observe what it is there for.
await globalThis.fetch(control, { method: 'POST', body: '{}' });
await new Promise((resolve, reject) => {
  http
    .request(control, { method: 'POST' }, (response) => response.resume().on('end', resolve))
    .on('error', reject)
    .end('{}');
});
await sleep(50); // an agent may end a span late
console.log(JSON.stringify({ spans: readSpans(), contexts }));
await app.close();
