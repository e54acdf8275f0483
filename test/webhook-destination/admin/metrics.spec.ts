import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { AnalyticsModule, AnalyticsService, memoryQueue } from 'nestjs-analytics-relay';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { type PrometheusFamily, readMetrics, sumOf } from '../../support/prometheus.js';
import { startRelayApp } from '../../support/relay.app.js';
import { waitFor } from '../../support/wait-for.js';

const MESSAGES = 10_000;

/** Each third request is refused for now; answers how many it took and refused. */
async function failingReceiver() {
  const counts = { taken: 0, refused: 0 };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const isTaken = (counts.taken + counts.refused) % 3 !== 0;
      counts[isTaken ? 'taken' : 'refused']++;
      response.writeHead(isTaken ? 200 : 429).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { counts, url: `http://127.0.0.1:${port}/hook`, stop: () => server.close() };
}

const track = (messageId: string) => ({ type: 'track', userId: 'u1', event: 'Ordered', messageId });

describe.each(platforms)('GET /relay/api/metrics, on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('agrees with what the receiver counted of 10,000 messages, and never goes back', async () => {
    const receiver = await failingReceiver();
    afterwards(receiver.stop);
    const { host } = await startRelayApp(afterwards, createAdapter(), {
      destination: { urls: [receiver.url] },
      options: {
        admin: { token: 'secret' },
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 20, maxRetryDelay: 50 },
      },
    });
    const read: PrometheusFamily[][] = [];
    const readNext = async () => {
      const next = await readMetrics(host, 'secret');
      read.push(next);
      return next;
    };

    for (let index = 0; index < MESSAGES; index += 500) {
      const batch = Array.from({ length: 500 }, (_, offset) => track(`m${index + offset}`));
      expect((await post(`${host}/v1/batch`, { batch })).status).toBe(200);
    }
    await post(`${host}/v1/batch`, { batch: [{ type: 'track', userId: 'u1' }, { type: 'click' }] });
    await post(`${host}/v1/track`, { userId: 'u1' });
    await post(`${host}/v1/track`, track('m'), 'wk_wrong');
    const delivered = { outcome: 'delivered', destination: 'Webhooks' };
    await waitFor(
      async () => sumOf(await readNext(), 'analytics_relay_delivery_attempts_total', delivered) === MESSAGES,
    );

    const { taken, refused } = receiver.counts;
    const last = await readNext();
    const attempts = (labels: object) =>
      sumOf(last, 'analytics_relay_delivery_attempts_total', labels as Record<string, string>);
    expect(taken).toBe(MESSAGES);
    expect(refused).toBeGreaterThan(1_000);
    expect(attempts(delivered)).toBe(taken);
    expect(attempts({ outcome: 'waiting' })).toBe(refused);
    expect(sumOf(last, 'messaging_client_consumed_messages_total')).toBe(taken + refused);
    expect(sumOf(last, 'messaging_process_duration_seconds_count')).toBe(taken + refused);
    const answers = (status: string) =>
      sumOf(last, 'http_client_request_duration_seconds_count', { http_response_status_code: status });
    expect([answers('200'), answers('429')]).toEqual([taken, refused]);
    expect(sumOf(last, 'analytics_relay_delivery_latency_seconds_count', { destination: 'Webhooks' })).toBe(taken);
    expect(sumOf(last, 'messaging_client_sent_messages_total', { messaging_operation_name: 'enqueue' })).toBe(MESSAGES);
    expect(sumOf(last, 'analytics_relay_circuit_status', { destination: 'Webhooks' })).toBe(0);
    expect(sumOf(last, 'analytics_relay_delivery_count', { state: 'dead' })).toBe(0);
    const rejected = last.find(({ name }) => name === 'analytics_relay_ingest_rejected_total')!.metrics;
    expect(Object.fromEntries(rejected.map(({ labels, value }) => [labels!.code, value]))).toEqual({
      event_not_string: '2',
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

    const oldest = async () => sumOf(await readMetrics(host, 'secret'), 'analytics_relay_delivery_oldest_age_seconds');
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
