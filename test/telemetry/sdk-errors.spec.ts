import { diag, DiagLogLevel } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { NodeTracerProvider, SamplingDecision, type SpanProcessor } from '@opentelemetry/sdk-trace-node';
import { AnalyticsModule, AnalyticsService } from 'nestjs-analytics-relay';
import { openTelemetry, type OpenTelemetryOptions } from 'nestjs-analytics-relay/opentelemetry';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen } from '../support/platforms.js';
import { post } from '../support/post.js';
import { PullReader } from '../support/pull.reader.js';
import { Receiver } from '../support/receiver.js';
import { Relay } from '../support/relay.js';

const fail = (): never => {
  throw new Error('a fault of the application');
};

const processor = (methods: Partial<SpanProcessor>): Partial<OpenTelemetryOptions> => {
  const none = { onStart: () => undefined, onEnd: () => undefined };
  const end = { forceFlush: () => Promise.resolve(), shutdown: () => Promise.resolve() };
  return { tracerProvider: new NodeTracerProvider({ spanProcessors: [{ ...none, ...end, ...methods }] }) };
};

const view = (instrumentName: string): Partial<OpenTelemetryOptions> => ({
  meterProvider: new MeterProvider({
    readers: [new PullReader()],
    views: [{ instrumentName, attributesProcessors: [{ process: fail }] }],
  }),
});

const faults: [string, () => Partial<OpenTelemetryOptions>][] = [
  ['a sampler', () => ({ tracerProvider: new NodeTracerProvider({ sampler: { shouldSample: fail } }) })],
  [
    'a sampler, for the requests of an attempt',
    () => {
      const shouldSample = (_context: unknown, _traceId: string, name: string) =>
        name === 'POST' ? fail() : { decision: SamplingDecision.RECORD_AND_SAMPLED };
      return { tracerProvider: new NodeTracerProvider({ sampler: { shouldSample } }) };
    },
  ],
  ['a span processor, as a span starts', () => processor({ onStart: fail })],
  ['a span processor, as a span ends', () => processor({ onEnd: fail })],
  ['a view of messaging.client.operation.duration', () => view('messaging.client.operation.duration')],
  ['a view of messaging.process.duration', () => view('messaging.process.duration')],
  ['a view of http.client.request.duration', () => view('http.client.request.duration')],
];

const afterwards = useCleanUps();
afterEach(() => diag.disable());

describe.each(faults)('an error thrown by %s', (_where, createProviders) => {
  it('loses, delays and repeats nothing, and is reported', async () => {
    const error = vi.fn();
    const ignored = () => undefined;
    const logger = { error, warn: ignored, info: ignored, debug: ignored, verbose: ignored };
    diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    receiver.statuses = [503, 200];
    const telemetry = openTelemetry({ ...createProviders(), createSpans: true });
    const relay = await Relay.start({
      imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', telemetry })],
      destinations: [{ urls: [receiver.url], concurrency: 1 }],
      delivery: { initialRetryDelay: 20 },
      telemetry,
    });
    afterwards(() => relay.stop());
    const message = { userId: 'u1', event: 'Ordered' };
    const callback = vi.fn();

    relay.app.get(AnalyticsService).track({ ...message, messageId: 'm1' }, callback);
    await relay.app.get(AnalyticsService).flush();
    const { status } = await post(`${await listen(relay.app)}/v1/track`, { ...message, messageId: 'm2' });

    expect(callback.mock.calls).toEqual([[undefined, expect.anything()]]);
    expect(status).toBe(200);
    await relay.settled('delivered', 2);
    expect((await receiver.taken(2)).sort()).toEqual(['m1', 'm2']);
    expect(receiver.webhooks).toHaveLength(3);
    expect(await relay.undelivered()).toEqual([]);
    expect(relay.log.matching(/^error/)).toEqual([]);
    // Once, and not for each span.
    expect(error.mock.calls).toEqual([[expect.stringContaining('a fault of the application')]]);
  });
});
