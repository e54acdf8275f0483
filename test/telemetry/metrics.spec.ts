import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { AggregationTemporality, DataPointType, type MetricData, MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  AnalyticsModule,
  AnalyticsService,
  type DeliveryQueue,
  getAnalyticsToken,
  memoryQueue,
  OptionsError,
  WebhookDestinationModule,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';
import { openTelemetry, type Telemetry } from 'nestjs-analytics-relay/opentelemetry';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen } from '../support/platforms.js';
import { post } from '../support/post.js';
import { fetchMetrics, parseMetrics, type PrometheusFamily, readMetrics, sumOf } from '../support/prometheus.js';
import { PullReader } from '../support/pull.reader.js';
import { Receiver } from '../support/receiver.js';
import { Relay } from '../support/relay.js';
import { hang, ScriptedReceiver } from '../support/scripted-receiver.js';
import { waitFor } from '../support/wait-for.js';

const track = (messageId: string) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId });

const CRM = { destination: 'CRM' };

const ATTEMPTS = 'analytics_relay_delivery_attempts_total';

/** The series of OpenTelemetry's SDK, by name and attributes as Prometheus has them. */
function seriesOf(metrics: MetricData[]): Map<string, number> {
  const series = new Map<string, number>();
  for (const metric of metrics) {
    const { name, unit } = metric.descriptor;
    const isCounter = metric.dataPointType === DataPointType.SUM;
    const words = [name.replaceAll('.', '_'), ...(unit === 's' ? ['seconds'] : []), ...(isCounter ? ['total'] : [])];
    for (const { attributes, value } of metric.dataPoints) {
      const labels = Object.entries(attributes).map(([key, text]) => [key.replaceAll('.', '_'), String(text)]);
      const add = (suffix: string, number: number, more: string[][] = []) =>
        series.set(
          keyOf(words.join('_') + suffix, Object.fromEntries([...labels, ...more]) as Record<string, string>),
          number,
        );
      if (typeof value === 'number') {
        add('', value);
        continue;
      }
      if (!('buckets' in value) || !('boundaries' in value.buckets)) throw new Error(`${name} has no buckets`);
      add('_count', value.count);
      let count = 0;
      value.buckets.counts.forEach((added, index) => {
        count += added;
        const bound = (value.buckets as { boundaries: number[] }).boundaries[index];
        add('_bucket', count, [['le', bound === undefined ? '+Inf' : String(bound)]]);
      });
    }
  }
  return series;
}

function keyOf(name: string, labels: Record<string, string> = {}): string {
  return `${name} ${JSON.stringify(Object.entries(labels).sort())}`;
}

/** The series of a Prometheus text, without the sums of durations, which no two additions round alike. */
function seriesIn(families: PrometheusFamily[]): Map<string, number> {
  const isExact = ({ name }: PrometheusFamily) => !/_seconds_sum$/.test(name);
  return new Map(
    families
      .filter(isExact)
      .flatMap(({ name, metrics }) =>
        metrics.map(({ labels, value }): [string, number] => [keyOf(name, labels), Number(value)]),
      ),
  );
}

/** Without what changes from one reading to the next. */
function withoutAges(series: Map<string, number>): Record<string, number> {
  return Object.fromEntries([...series].filter(([key]) => !key.startsWith('analytics_relay_delivery_oldest_')));
}

const SYSTEM = { messaging_system: 'nestjs_analytics_relay' };

describe('The metrics of a process', () => {
  const afterwards = useCleanUps();

  async function startReceiver(...statuses: number[]) {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    receiver.statuses = statuses;
    return receiver;
  }

  function createProvider(aggregationTemporality = AggregationTemporality.CUMULATIVE) {
    const reader = new PullReader({ aggregationTemporalitySelector: () => aggregationTemporality });
    const provider = new MeterProvider({ readers: [reader] });
    afterwards(() => provider.shutdown());
    return { provider, read: () => reader.read() };
  }

  /** An application that records and relays, with two clients, each with telemetry of its own. */
  async function start(
    { url }: Receiver,
    provider?: MeterProvider,
    names = ['CRM', 'Mail'],
    queue: () => DeliveryQueue = memoryQueue(),
  ) {
    const telemetry = () => (provider ? openTelemetry({ meterProvider: provider }) : undefined);
    const imports = [
      AnalyticsModule.forRoot({ writeKey: 'wk_shop', telemetry: telemetry() }),
      AnalyticsModule.forRoot({ name: 'second', writeKey: 'wk_shop', telemetry: telemetry() }),
      WebhookDestinationModule.forRoot({
        sources: [{ name: 'shop', writeKey: 'wk_shop' }],
        destinations: names.map((name) => ({ name, urls: [url] })),
        queue,
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 1, maxRetryDelay: 1 },
        admin: { token: 'secret' },
        telemetry: telemetry(),
      }),
    ];
    const testing = await Test.createTestingModule({ imports }).compile();
    const app = testing.createNestApplication(new ExpressAdapter(), { logger: false });
    afterwards(() => app.close());
    return { app, host: await listen(app) };
  }

  /** An application that records, and sends to another process. */
  async function startClient({ url }: Receiver, telemetry: Telemetry) {
    const imports = [AnalyticsModule.forRoot({ writeKey: 'wk_shop', host: new URL(url).origin, telemetry })];
    const testing = await Test.createTestingModule({ imports }).compile();
    const app = testing.createNestApplication(new ExpressAdapter(), { logger: false });
    afterwards(() => app.close());
    return app.init();
  }

  const delivered = async (host: string, count: number) => {
    const labels = { outcome: 'delivered' };
    await waitFor(
      async () => sumOf(await readMetrics(host, 'secret'), 'analytics_relay_delivery_attempts_total', labels) === count,
    );
  };

  it('are the same to the SDK of OpenTelemetry as in the Prometheus text', async () => {
    const receiver = await startReceiver(503, 429, 200);
    const { provider, read } = createProvider();
    const { app, host } = await start(receiver, provider);
    app.get(AnalyticsService).track({ userId: 'u1', event: 'Ordered' });
    app.get<AnalyticsService>(getAnalyticsToken('second')).track({ userId: 'u2', event: 'Ordered' });
    await post(`${host}/v1/batch`, { batch: [track('m1'), track('m2'), { type: 'none' }] });
    await delivered(host, 8);
    // Readings of the queue are shared for a while.
    const counted = { state: 'delivered' };
    await waitFor(
      async () => sumOf(await readMetrics(host, 'secret'), 'analytics_relay_delivery_count', counted) === 8,
    );

    const text = await readMetrics(host, 'secret');
    const metrics = await read();
    expect(withoutAges(seriesOf(metrics))).toEqual(withoutAges(seriesIn(text)));
    expect(sumOf(text, 'analytics_relay_delivery_attempts_total')).toBe(10);
    const names = metrics.map(({ descriptor: { name } }) => name);
    expect(names).toHaveLength(new Set(names).size);
    expect(names).toEqual(expect.arrayContaining(['analytics_relay.delivery.latency', 'messaging.process.duration']));
    const units = metrics.map(({ descriptor: { name, unit } }) => [name, unit]);
    for (const kind of ['sent', 'consumed'])
      expect(units).toContainEqual([`messaging.client.${kind}.messages`, '{message}']);
  });

  it('are added up, to the SDK, where two relays have a destination of one name', async () => {
    const receiver = await startReceiver(200);
    const { provider, read } = createProvider();
    const hosts = [await start(receiver, provider), await start(receiver, provider)].map(({ host }) => host);
    for (const [index, host] of hosts.entries()) {
      await post(`${host}/v1/batch`, { batch: Array.from({ length: index + 1 }, (_, at) => track(`m${at}`)) });
      await delivered(host, 2 * (index + 1));
    }
    const valueOf = async (name: string, attributes: object) => {
      const { dataPoints } = (await read()).find(({ descriptor }) => descriptor.name === name)!;
      const matching = dataPoints.filter((point) => JSON.stringify(point.attributes) === JSON.stringify(attributes));
      return matching.map(({ value }) => (typeof value === 'object' ? (value as { count: number }).count : value));
    };
    const crm = { destination: 'CRM', outcome: 'delivered' };
    expect(await valueOf('analytics_relay.delivery.attempts', crm)).toEqual([3]);
    expect(await valueOf('analytics_relay.delivery.latency', { destination: 'CRM' })).toEqual([3]);
    expect(await valueOf('analytics_relay.circuit.status', { destination: 'CRM' })).toEqual([0]);
  });

  it('of a relay that has stopped are gone, while the others go on', async () => {
    const receiver = await startReceiver(200);
    const { provider, read } = createProvider(AggregationTemporality.DELTA);
    const apps = [await start(receiver, provider, ['Old']), await start(receiver, provider, ['New'])];
    for (const { host } of apps) {
      await post(`${host}/v1/batch`, { batch: [track('m1')] });
      await delivered(host, 1);
    }
    const circuits = async () =>
      (await read())
        .filter(({ descriptor: { name } }) => name === 'analytics_relay.circuit.status')
        .flatMap<unknown>(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes.destination))
        .sort();
    expect(await circuits()).toEqual(['New', 'Old']);
    await apps[0]!.app.close();
    await read(); // 0 once, for those who keep the last value
    expect(await circuits()).toEqual(['New']);
  });

  it('are there before the first loss, refusal or failure, which is then an increase', async () => {
    const { host } = await start(await startReceiver(200));
    const before = await readMetrics(host, 'secret');
    const dropped = before.find(({ name }) => name === 'analytics_relay_client_events_dropped_total')!;
    expect(dropped.metrics.map(({ labels }) => labels!.reason).sort()).toEqual([
      ...['call_after_close', 'delivery_failed', 'flush_timeout', 'message_too_large'],
      ...['message_unreadable', 'queue_full', 'rejected', 'tracking_plan_violation'],
    ]);
    expect(seriesIn(before).get(keyOf('analytics_relay_client_events_cancelled_total'))).toBeGreaterThanOrEqual(0);
    const unavailable = { code: 'queue_unavailable' };
    expect(seriesIn(before).get(keyOf('analytics_relay_ingest_rejected_total', unavailable))).toBe(0); // an alert watches for it
    expect(seriesIn(before).has(keyOf('analytics_relay_client_queue_count'))).toBe(true);
    await post(`${host}/v1/batch`, { batch: [track('m1')] });
    await delivered(host, 2);
    const after = seriesIn(await readMetrics(host, 'secret'));
    for (const outcome of ['waiting', 'dead']) expect(after.get(keyOf(ATTEMPTS, { ...CRM, outcome }))).toBe(0);
    expect(after.get(keyOf('analytics_relay_delivery_dead_total', CRM))).toBe(0);
  });

  it('tell the duration of failed attempts by their error', async () => {
    const { host } = await start(await startReceiver(503, 200), undefined, ['CRM']);
    await post(`${host}/v1/batch`, { batch: [track('m1')] });
    await delivered(host, 1);
    const series = seriesIn(await readMetrics(host, 'secret'));
    const attempted = { ...SYSTEM, messaging_operation_name: 'process', messaging_destination_name: 'CRM' };
    const durations = (labels: object) =>
      series.get(keyOf('messaging_process_duration_seconds_count', { ...attempted, ...labels }));
    expect([durations({ error_type: '503' }), durations({})]).toEqual([1, 1]);
    expect(series.get(keyOf('messaging_client_consumed_messages_total', attempted))).toBe(2);
  });

  it('count the notifications of a deletion like messages', async () => {
    const { app, host } = await start(await startReceiver(200));
    await app.get(WebhookDestinationService).requestDeletion({ userIds: ['u1', 'u2'] });
    await delivered(host, 4);
    const queued = { messaging_operation_name: 'enqueue' };
    expect(sumOf(await readMetrics(host, 'secret'), 'messaging_client_sent_messages_total', queued)).toBe(4);
  });

  it('count what the queue refuses once, over HTTP and in process', async () => {
    const queue = memoryQueue()();
    const { app, host } = await start(await startReceiver(200), undefined, ['CRM'], () => queue);
    queue.add = () => Promise.reject(new Error('the disk is full'));
    const refused = async () =>
      sumOf(await readMetrics(host, 'secret'), 'analytics_relay_ingest_rejected_total', { code: 'queue_unavailable' });
    await post(`${host}/v1/batch`, { batch: [track('m1')] });
    expect(await refused()).toBe(1);
    await expect(app.get(WebhookDestinationService).accept('wk_shop', [track('m2')])).rejects.toThrow('full');
    expect(await refused()).toBe(2);
  });

  it('count an attempt all of whose requests fail before they are made', async () => {
    const fast = await startReceiver(200, 200, 200, 200, 410);
    const slow = await ScriptedReceiver.start(hang);
    afterwards(() => slow.stop());
    const relay = await Relay.start({
      destinations: [{ name: 'CRM', urls: [fast.url, slow.url], concurrency: 1 }],
      delivery: { initialRetryDelay: 20, maxRetryDelay: 20 },
      admin: { token: 'secret' },
    });
    afterwards(() => relay.stop());
    const host = await listen(relay.app);
    // Requests of the four that the fast URL takes fill the slow one's places.
    for (let index = 0; index < 5; index++) await relay.track(`m${index}`);
    await relay.settled('retry', 3);
    await waitFor(async () => {
      const retries = relay.events.filter(({ type }) => type === 'retry').length;
      const counted = sumOf(await readMetrics(host, 'secret'), ATTEMPTS, { ...CRM, outcome: 'waiting' });
      return counted >= 3 && counted - retries <= 1;
    });
  });

  it('that count go on where a relay that has stopped left off', async () => {
    const receiver = await startReceiver(200);
    const { provider, read } = createProvider();
    const attempts = async () => [...seriesOf(await read())].filter(([key]) => key.startsWith(ATTEMPTS));
    for (const count of [1, 2, 3]) {
      const { app, host } = await start(receiver, provider, ['CRM']);
      await post(`${host}/v1/batch`, { batch: [track('m1')] });
      await delivered(host, 1);
      await app.close();
      const outcomes = [
        ['delivered', count],
        ['waiting', 0],
        ['dead', 0],
      ] as const;
      expect(await attempts()).toEqual(
        outcomes.map(([outcome, value]) => [keyOf(ATTEMPTS, { ...CRM, outcome }), value]),
      );
    }
  });

  it('show an age of 0 once nothing waits any more, and none that could not be read', async () => {
    const { provider, read } = createProvider();
    const queue = memoryQueue()();
    let oldest = () => Promise.resolve([{ destination: 'CRM', acceptedAt: Date.now() - 60_000 }]);
    let asked = 0;
    queue.oldest = () => {
      asked++;
      return oldest();
    };
    const age = async () => seriesOf(await read()).get(keyOf('analytics_relay_delivery_oldest_age_seconds', CRM));
    await start(await startReceiver(200), provider, ['CRM'], () => queue);
    await waitFor(async () => (await age())! >= 60);
    const before = asked;
    oldest = () => Promise.reject(new Error('the store is gone'));
    await waitFor(async () => (await age())! >= 60 && asked > before + 1);
    oldest = () => Promise.resolve([]);
    await waitFor(async () => (await age()) === 0);
  });

  it('name the source of the option, and are counted once', async () => {
    const receiver = await startReceiver(200);
    const { provider, read } = createProvider();
    const telemetry = openTelemetry({ meterProvider: provider, source: 'web' });
    const app = await startClient(receiver, telemetry);
    app.get(AnalyticsService).track({ userId: 'u1', event: 'Ordered' });
    await app.get(AnalyticsService).flush();
    const labels = { ...SYSTEM, messaging_operation_name: 'send', messaging_destination_name: 'web' };
    expect(seriesOf(await read()).get(keyOf('messaging_client_sent_messages_total', labels))).toBe(1);
  });

  it('are there beside telemetry of the application, which follows the client of AnalyticsModule', async () => {
    const receiver = await startReceiver(200);
    const { provider, read } = createProvider();
    const spans = openTelemetry({ meterProvider: provider });
    const followed: unknown[] = [];
    const counts: number[] = [];
    const telemetry: Telemetry = {
      send: (batch, send) => spans.send(batch, send),
      enqueue: (deliveries, add) => spans.enqueue(deliveries, add),
      attempt: (delivery) => spans.attempt(delivery),
      observe: (metrics) => spans.observe!(metrics),
      follow: (client) => {
        followed.push(client);
        return {
          send: (batch, send) => {
            counts.push(batch.count);
            return send();
          },
        };
      },
    };
    const app = await startClient(receiver, telemetry);
    const sent = async () => {
      const labels = { ...SYSTEM, messaging_operation_name: 'send', messaging_destination_name: 'analytics' };
      return seriesOf(await read()).get(keyOf('messaging_client_sent_messages_total', labels)) ?? 0;
    };
    const before = await sent();
    app.get(AnalyticsService).track({ userId: 'u1', event: 'Ordered' });
    await app.get(AnalyticsService).flush();
    expect(followed).toEqual([app.get(AnalyticsService)]);
    expect(counts).toEqual([1]);
    expect((await sent()) - before).toBe(1);
  });

  it('have each name and each series once in the Prometheus text, of several clients and relays', async () => {
    const receiver = await startReceiver(200);
    const first = await start(receiver);
    const { app, host } = await start(receiver, undefined, ['CRM', 'Say "é"\\ \n{x="y"}']);
    app.get(AnalyticsService).track({ userId: 'u1', event: 'Ordered' });
    await post(`${first.host}/v1/batch`, { batch: [track('m1')] });
    await delivered(first.host, 2);
    await delivered(host, 2);

    for (const text of [await fetchMetrics(first.host, 'secret'), await fetchMetrics(host, 'secret')]) {
      const lines = text.trim().split('\n');
      for (const kind of ['HELP', 'TYPE']) {
        const names = lines.filter((line) => line.startsWith(`# ${kind}`)).map((line) => line.split(' ')[2]);
        expect(names.length).toBeGreaterThan(5);
        expect(names).toEqual([...new Set(names)]);
      }
      const series = lines.filter((line) => !line.startsWith('#')).map((line) => line.replace(/ \S+$/, ''));
      expect(series).toEqual([...new Set(series)]);
    }
    const labels = { destination: 'Say "é"\\ \n{x="y"}', outcome: 'delivered' };
    const families = parseMetrics(await fetchMetrics(host, 'secret'));
    expect(sumOf(families, 'analytics_relay_delivery_attempts_total', labels)).toBe(1);
  });
});

describe('The options of openTelemetry', () => {
  it.each<[object, string]>([
    [{ tracerProvider: {} }, 'tracerProvider must be a tracer provider'],
    [{ meterProvider: null }, 'meterProvider must be a meter provider'],
    [{ attempts: 'parent' }, "attempts must be 'link' or 'child'"],
    [{ createSpans: 1 }, 'createSpans must be true or false'],
    [{ source: '' }, 'source must be a non-empty string'],
    [{ sampler: 1 }, 'sampler is not a known option'],
  ])('refuse %j, naming option and rule', (options, fault) => {
    const create = () => openTelemetry(options);
    expect(create).toThrow(OptionsError);
    expect(create).toThrow(fault);
  });
});
