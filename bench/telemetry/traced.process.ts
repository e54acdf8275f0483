// Relays without tracing, and with some of all traces sampled. Arguments: way, engine, URL of the receiver.
import 'reflect-metadata';

import { context, trace, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import { openTelemetry } from 'nestjs-analytics-relay/opentelemetry';

import { relay } from '../forward/relay.contender.js';
import { createRelayRecording, measureRecording, type Recording } from '../inprocess/recording.js';
import { type Burst, type Engine, SAMPLINGS, type Way } from './traced.interface.js';

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

async function create(way: Way, engine: Engine, receiver: string, sampling: number | undefined): Promise<Relay> {
  const provider = createProvider(sampling ?? 0.01);
  const telemetry = sampling === undefined ? undefined : openTelemetry({ tracerProvider: provider });
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
for (const sampling of SAMPLINGS) relays.push(await create(way, engine, receiver, sampling));
process.on('message', ({ index, count }: Burst) => {
  void relays[index]!.measure(count).then((cpu) => process.send!(cpu));
});
process.once('disconnect', () => process.exit());
process.send!(relays.map(({ url }) => url));
