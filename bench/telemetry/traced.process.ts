// Relays without tracing, with a part of it, and with all of it. Arguments: way, engine, URL of the receiver.
import 'reflect-metadata';

import { context, ROOT_CONTEXT, SpanKind, trace, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import { openTelemetry, type Telemetry } from 'nestjs-analytics-relay/opentelemetry';

import { relay } from '../forward/relay.contender.js';
import { createRelayRecording, measureRecording, type Recording } from '../inprocess/recording.js';
import { type Burst, type Engine, TRACINGS, type Tracing, type Way } from './traced.interface.js';

/** Measures a burst; resolves with the CPU of all threads for each event, in us. */
type Measure = (count: number) => Promise<number>;

interface Relay {
  url?: string;
  measure: Measure;
}

/** Spans end here, as those of an exporter in another process do. */
const exporter: SpanExporter = {
  export: (_spans, done) => done({ code: 0 }),
  shutdown: () => Promise.resolve(),
};

function createProvider(ratio: number): NodeTracerProvider {
  return new NodeTracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: 100_000 })],
  });
}

/** Each event is recorded under a span, as one of a request is. */
function underSpans({ record, delivered }: Recording, tracer: Tracer): Recording {
  return {
    delivered,
    record: (index) => {
      const span = tracer.startSpan('request');
      context.with(trace.setSpan(context.active(), span), () => record(index));
      span.end();
    },
  };
}

function createTelemetry(tracing: Tracing, provider: NodeTracerProvider): Telemetry | undefined {
  if (tracing === 'none') return undefined;
  if (tracing === '1 %' || tracing === '100 %') return openTelemetry({ tracerProvider: provider });
  const tracer = provider.getTracer('bench');
  const attributes = {
    'messaging.system': 'nestjs_analytics_relay',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'Webhooks',
  };
  const request = () => undefined;
  const noSpan = { request, end: () => {} };
  return {
    send: (_batch, send) => send(),
    enqueue: (_deliveries, add) => add(),
    attempt: () => {
      if (tracing === 'figures') return noSpan;
      const span = tracer.startSpan('process Webhooks', { kind: SpanKind.CONSUMER, attributes }, ROOT_CONTEXT);
      return { request, end: () => span.end() };
    },
  };
}

async function create(way: Way, engine: Engine, receiver: string, tracing: Tracing): Promise<Relay> {
  const provider = createProvider(tracing === '100 %' ? 1 : 0.01);
  const telemetry = createTelemetry(tracing, provider);
  let sum = 0;
  if (way === 'in process') {
    const recording = underSpans(
      await createRelayRecording(engine, receiver, { telemetry }),
      provider.getTracer('application'),
    );
    return {
      measure: async (count) => {
        const from = sum;
        sum += count;
        return measureRecording(recording, from, count);
      },
    };
  }
  const { url, delivered } = await relay(engine, 'undici', telemetry).serve(receiver);
  return {
    url,
    measure: async (count) => {
      sum += count;
      const { user, system } = process.cpuUsage();
      await delivered(sum);
      const usage = process.cpuUsage();
      return (usage.user + usage.system - user - system) / count;
    },
  };
}

const [way, engine, receiver] = process.argv.slice(2) as [Way, Engine, string];
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const relays: Relay[] = [];
for (const tracing of TRACINGS) relays.push(await create(way, engine, receiver, tracing));
process.on('message', ({ index, count }: Burst) => {
  void relays[index]!.measure(count).then((cpu) => process.send!(cpu));
});
process.once('disconnect', () => process.exit());
process.send!(relays.map(({ url }) => url));
