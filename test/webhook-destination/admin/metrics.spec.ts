import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AnalyticsModule, AnalyticsService, memoryQueue } from 'nestjs-analytics-relay';
import { RelayHealthIndicator } from 'nestjs-analytics-relay/terminus';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { onExpress } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { type PrometheusFamily, readMetrics, sumOf } from '../../support/prometheus.js';
import { startRelayApp } from '../../support/relay.app.js';
import { waitFor } from '../../support/wait-for.js';

const MESSAGES = 2_000;

/** Each third request fails; answers how many it took, and how many failed. */
async function failingReceiver(fail: (response: ServerResponse) => void, keepsAlive = true) {
  const counts = { taken: 0, failed: 0 };
  const server = createServer((request, response) => {
    response.shouldKeepAlive = keepsAlive;
    request.resume().on('end', () => {
      const isTaken = (counts.taken + counts.failed) % 3 !== 0;
      counts[isTaken ? 'taken' : 'failed']++;
      if (isTaken) response.end();
      else fail(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { counts, port, url: `http://127.0.0.1:${port}/hook`, stop: () => server.close() };
}

/** How receivers fail, by destination, and what then becomes of a delivery. */
const FAILURES = {
  Busy: { fail: (response: ServerResponse) => void response.writeHead(429).end(), outcome: 'waiting', label: '429' },
  Resets: { fail: (response: ServerResponse) => void response.destroy(), outcome: 'waiting', label: 'UND_ERR_SOCKET' },
  Refuses: { fail: (response: ServerResponse) => void response.writeHead(400).end(), outcome: 'dead', label: '400' },
};

const track = (messageId: string, event = 'Ordered') => ({ type: 'track', userId: 'u1', event, messageId });

describe.each(onExpress)('GET /relay/api/metrics, on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('agrees with what failing receivers counted of 2,000 messages, and never goes back', async () => {
    const receivers = await Promise.all(
      Object.entries(FAILURES).map(async ([name, { fail, outcome, label }]) => {
        // On a connection that is used again, a request that is reset goes out once more.
        const receiver = await failingReceiver(fail, name !== 'Resets');
        afterwards(receiver.stop);
        return { name, outcome, label, ...receiver };
      }),
    );
    const { host } = await startRelayApp(afterwards, createAdapter(), {
      options: {
        admin: { token: 'secret' },
        destinations: receivers.map(({ name, url }) => ({ name, urls: [url], events: [name] })),
        // On a busy machine an attempt could time out after its receiver has counted it.
        delivery: { allowedNetworks: ['127.0.0.0/8'], timeout: 60_000, initialRetryDelay: 20, maxRetryDelay: 50 },
      },
    });
    const names = Object.keys(FAILURES);
    const read: PrometheusFamily[][] = [];
    const readNext = async () => {
      const next = await readMetrics(host, 'secret');
      read.push(next);
      return next;
    };

    for (let index = 0; index < MESSAGES; index += 500) {
      const batch = Array.from({ length: 500 }, (_, offset) =>
        track(`m${index + offset}`, names[offset % names.length]),
      );
      expect((await post(`${host}/v1/batch`, { batch })).status).toBe(200);
    }
    await post(`${host}/v1/batch`, { batch: [{ type: 'track', userId: 'u1' }, { type: 'click' }] });
    await post(`${host}/v1/track`, { userId: 'u1' });
    await post(`${host}/v1/track`, track('m'), 'wk_wrong');
    const endedAt = ({ outcome, counts: { taken, failed } }: (typeof receivers)[number]) =>
      taken + (outcome === 'dead' ? failed : 0);
    const ended = () => receivers.reduce((sum, receiver) => sum + endedAt(receiver), 0);
    for (let step = 1; step <= 20; step++) {
      await waitFor(() => ended() >= (MESSAGES * step) / 20);
      await readNext();
    }
    const attempts = (families: PrometheusFamily[], labels: Record<string, string>) =>
      sumOf(families, 'analytics_relay_delivery_attempts_total', labels);
    await waitFor(async () => {
      const families = await readMetrics(host, 'secret'); // often: not among those that are compared with each other
      const dead = attempts(families, { outcome: 'dead' });
      const isCurrent = sumOf(families, 'analytics_relay_delivery_count', { state: 'dead' }) === dead; // it is shared
      return isCurrent && attempts(families, { outcome: 'delivered' }) + dead === MESSAGES;
    });

    const last = await readNext();
    const enqueued = { messaging_operation_name: 'enqueue' };
    expect(sumOf(last, 'messaging_client_sent_messages_total', enqueued)).toBe(MESSAGES);
    for (const { name, outcome, label, port, counts } of receivers) {
      const { taken, failed } = counts;
      const destination = { destination: name };
      const ofName = { messaging_destination_name: name };
      expect(failed).toBeGreaterThan(MESSAGES / 20);
      expect(attempts(last, { ...destination, outcome: 'delivered' })).toBe(taken);
      expect(attempts(last, { ...destination, outcome })).toBe(failed);
      expect(attempts(last, destination)).toBe(taken + failed);
      expect(sumOf(last, 'messaging_client_consumed_messages_total', ofName)).toBe(taken + failed);
      expect(sumOf(last, 'messaging_process_duration_seconds_count', ofName)).toBe(taken + failed);
      const requests = (labels: Record<string, string>) =>
        sumOf(last, 'http_client_request_duration_seconds_count', {
          server_address: '127.0.0.1',
          server_port: String(port),
          ...labels,
        });
      expect(requests({ http_response_status_code: '200' })).toBe(taken);
      expect(requests({ error_type: label })).toBe(failed);
      expect(sumOf(last, 'analytics_relay_delivery_latency_seconds_count', destination)).toBe(taken);
      expect(sumOf(last, 'analytics_relay_circuit_status', destination)).toBe(0);
      const dead = { ...destination, state: 'dead' };
      expect(sumOf(last, 'analytics_relay_delivery_count', dead)).toBe(outcome === 'dead' ? failed : 0);
    }
    expect(sumOf(last, 'analytics_relay_ingest_duplicate_total')).toBe(0);
    const rejected = last.find(({ name }) => name === 'analytics_relay_ingest_rejected_total')!.metrics;
    expect(Object.fromEntries(rejected.map(({ labels, value }) => [labels!.code, value]))).toEqual({
      event_not_string: '2',
      queue_unavailable: '0',
      type_unknown: '1',
      write_key_unknown: '1',
    });

    for (const { name, type, metrics } of read.flat().filter(({ type }) => type === 'COUNTER')) {
      expect(`${name} ${type}`).toMatch(/_total COUNTER$/);
      for (const { labels, value } of metrics) {
        const values = read.map((families) => sumOf(families, name, labels));
        expect(values).toEqual([...values].sort((a, b) => a - b));
        expect(Number(value)).toBeLessThanOrEqual(values[values.length - 1]!);
      }
    }
  });

  it('counts what is lost before ingest, and shows how old what waits is', async () => {
    const { host, app } = await startRelayApp(afterwards, createAdapter(), {
      destination: { urls: ['http://127.0.0.1:1/hook'] },
      options: { admin: { token: 'secret' }, queue: memoryQueue() },
      metadata: { imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop', maxQueueSize: 2 })] },
    });
    const analytics = app.get(AnalyticsService);
    const before = sumOf(await readMetrics(host, 'secret'), 'analytics_relay_client_events_dropped_total', {
      reason: 'queue_full',
    });

    for (let index = 0; index < 5; index++) analytics.track({ userId: 'u1', event: 'Ordered' });

    const name = 'analytics_relay_delivery_oldest_age_seconds';
    const oldest = async () => sumOf(await readMetrics(host, 'secret'), name, { destination: 'Webhooks' });
    await waitFor(async () => (await oldest()) > 0.05);
    const metrics = await readMetrics(host, 'secret');
    const dropped = { reason: 'queue_full' };
    expect(sumOf(metrics, 'analytics_relay_client_events_dropped_total', dropped) - before).toBe(3);
    expect(sumOf(metrics, 'analytics_relay_client_queue_count')).toBe(0);
  });

  it('keeps apart the first destinations only', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const { host } = await startRelayApp(afterwards, createAdapter(), {
      options: {
        admin: { token: 'secret' },
        maxMetricDestinations: 2,
        destinations: names.map((name) => ({ name, urls: ['http://127.0.0.1:1/hook'] })),
      },
    });
    await post(`${host}/v1/batch`, { batch: [track('m1')] });

    const metrics = await readMetrics(host, 'secret');
    const counts = metrics.find(({ name }) => name === 'analytics_relay_delivery_count')!.metrics;
    expect(new Set(counts.map(({ labels }) => labels!.destination))).toEqual(new Set(['a', 'b', '_other']));
    expect(counts.reduce((sum, { value }) => sum + Number(value), 0)).toBe(4);
  });

  it('keeps places for the destinations that are used, however often the others are read', async () => {
    const queue = memoryQueue()();
    queue.counts = () =>
      Promise.resolve(['a', 'b', 'c'].map((destination) => ({ destination, state: 'dead', count: 1 })));
    const { host } = await startRelayApp(afterwards, createAdapter(), {
      options: {
        admin: { token: 'secret' },
        maxMetricDestinations: 2,
        destinations: ['c', 'd'].map((name) => ({ name, urls: ['http://127.0.0.1:1/hook'] })),
        queue: () => queue,
      },
    });
    const read = async (metric: string) =>
      (await readMetrics(host, 'secret'))
        .filter(({ name }) => name === metric)
        .flatMap(({ metrics }) => metrics.map(({ labels }) => labels!));
    const counted = async () =>
      (await read('analytics_relay_delivery_count')).map(({ destination }) => destination).sort();
    expect(await counted()).toEqual(['_other', 'a', 'b']);
    await post(`${host}/v1/batch`, { batch: [track('m1')] });
    const enqueued = (await read('messaging_client_sent_messages_total')).filter(
      (labels) => labels.messaging_operation_name === 'enqueue',
    );
    expect(enqueued.map((labels) => labels.messaging_destination_name).sort()).toEqual(['c', 'd']);
    expect(await counted()).toEqual(['_other', 'c']);
  });

  it('counts repeated messages apart from those that are queued', async () => {
    const { host } = await startRelayApp(afterwards, createAdapter(), { options: { admin: { token: 'secret' } } });
    for (const ids of [['m1', 'm2', 'm1'], ['m2']]) {
      await post(`${host}/v1/batch`, { batch: ids.map((id) => track(id)) });
    }
    const metrics = await readMetrics(host, 'secret');
    expect(sumOf(metrics, 'analytics_relay_ingest_duplicate_total')).toBe(2);
    expect(sumOf(metrics, 'messaging_client_sent_messages_total', { messaging_operation_name: 'enqueue' })).toBe(2);
  });

  it.each([
    ['gzip', 'gzip'],
    ['deflate, GZIP;q=0.5', 'gzip'],
    ['gzip;q=0', null],
    ['identity', null],
  ])('answers a scraper that accepts %s with the encoding %s', async (accepted, encoding) => {
    const { host } = await startRelayApp(afterwards, createAdapter(), { options: { admin: { token: 'secret' } } });
    const headers = { Authorization: 'Bearer secret', 'Accept-Encoding': accepted };
    const [answer, body] = await new Promise<[IncomingMessage, Buffer]>((resolve, reject) => {
      get(`${host}/relay/api/metrics`, { headers }, (response) => {
        buffer(response).then((bytes) => resolve([response, bytes]), reject);
      }).on('error', reject);
    });
    expect([answer.headers['content-encoding'] ?? null, answer.headers.vary]).toEqual([encoding, 'Accept-Encoding']);
    expect(answer.headers['content-length']).toBe(String(body.length));
    const text = (encoding ? gunzipSync(body) : body).toString();
    expect(text).toContain('analytics_relay_ingest_duplicate_total 0\n');
  });

  it('reads the queue once for metrics, health and the overview, where that takes long', async () => {
    const asked: string[] = [];
    const slow = async <T>(name: string, ask: () => Promise<T>) => {
      asked.push(name);
      await setTimeout(150); // an answer that took so long is shared for 15 s
      return ask();
    };
    const queue = memoryQueue()();
    const [counts, oldest] = [queue.counts.bind(queue), queue.oldest.bind(queue)];
    queue.counts = (except) => (except ? counts(except) : slow('counts', counts));
    queue.oldest = () => slow('oldest', oldest);
    const { host, app } = await startRelayApp(afterwards, createAdapter(), {
      options: { admin: { token: 'secret' }, queue: () => queue },
      metadata: { imports: [TerminusModule], providers: [RelayHealthIndicator] },
    });
    await readMetrics(host, 'secret');
    const overview = await fetch(`${host}/relay/api/overview`, { headers: { Authorization: 'Bearer secret' } });
    expect(overview.status).toBe(200);
    await app.get(RelayHealthIndicator).isHealthy('relay', { oldestWaiting: 1_000, dead: 1 });
    await readMetrics(host, 'secret');
    expect(asked).toEqual(['counts', 'oldest']);
  });

  it('is for those who may look: a token, a token to read, or a guard', async () => {
    const statusOf = async (host: string, path: string, token: string) => {
      const isDeletion = path !== 'relay/api/metrics';
      const answer = await fetch(`${host}/${path}`, {
        method: isDeletion ? 'POST' : 'GET',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...(isDeletion && { body: '{"userId":"u1"}' }),
      });
      return answer.status;
    };
    const guard: CanActivate = {
      canActivate: (context: ExecutionContext) =>
        ['look', 'write'].includes(tokenOf(context.switchToHttp().getRequest<WithHeaders>())),
    };
    const access = (request: WithHeaders) => (tokenOf(request) === 'write' ? 'write' : 'read');
    for (const admin of [
      { token: 'write', readToken: 'look' },
      { guard, access },
    ]) {
      const { host } = await startRelayApp(afterwards, createAdapter(), {
        options: { admin },
        prepare: (app) => void app.setGlobalPrefix('api/v2'),
      });
      for (const path of ['relay/api/metrics', 'v1/delete']) {
        const statuses = await Promise.all(['write', 'look', 'other'].map((token) => statusOf(host, path, token)));
        expect(statuses.slice(0, 2)).toEqual([200, path === 'v1/delete' ? 403 : 200]);
        expect([401, 403]).toContain(statuses[2]);
      }
      const below = await fetch(`${host}/api/v2/relay/api/metrics`, { headers: { Authorization: 'Bearer look' } });
      expect(below.status).toBe(200);
      expect(below.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    }
  });
});

type WithHeaders = { headers: { authorization?: string } };

const tokenOf = ({ headers }: WithHeaders) => (headers.authorization ?? '').replace('Bearer ', '');
