import type { WebhookTransport } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { listen } from '../support/platforms.js';
import { readMetrics } from '../support/prometheus.js';
import { Receiver } from '../support/receiver.js';
import { Relay } from '../support/relay.js';
import { waitFor } from '../support/wait-for.js';

const REQUESTS = 'http_client_request_duration_seconds_count';
const ATTEMPTS = 'messaging_process_duration_seconds_count';

/** Values of an attribute that have series of their own. */
const MAX = 50;

describe('The number of series', () => {
  const afterwards = useCleanUps();

  async function start(options: Parameters<typeof Relay.start>[0]) {
    const relay = await Relay.start({ admin: { token: 'secret' }, ...options });
    afterwards(() => relay.stop());
    const host = await listen(relay.app);
    /** The series of a metric: their labels and counts. */
    const read = async (metric: string) => {
      const families = (await readMetrics(host, 'secret')).filter(({ name }) => name === metric);
      return families.flatMap(({ metrics }) => metrics.map(({ labels, value }) => ({ labels, count: Number(value) })));
    };
    const counted = async (metric: string, count: number) =>
      waitFor(async () => (await read(metric)).reduce((sum, series) => sum + series.count, 0) >= count);
    return { relay, read, counted };
  }

  it('is bounded for a receiver that answers with any status', async () => {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const statuses = Array.from({ length: 300 }, (_, index) => 200 + index);
    receiver.statuses = [...statuses, 503];
    const { relay, read, counted } = await start({
      destinations: [{ name: 'Odd', urls: [receiver.url], concurrency: 1 }],
      // No retry, however long the 300 attempts take.
      delivery: { initialRetryDelay: 3_600_000, maxRetryDelay: 3_600_000 },
    });
    await relay.track(...statuses.map((status) => `m${status}`));
    await receiver.received(300); // reading metrics meanwhile would slow it down
    await counted(ATTEMPTS, 300);
    const requests = await read(REQUESTS);
    const ofStatus = requests.filter(({ labels }) => labels?.http_response_status_code !== undefined);
    expect(ofStatus.map(({ count }) => count)).toEqual(Array.from({ length: MAX }, () => 1));
    const others = requests.filter((series) => !ofStatus.includes(series));
    // A success has no error, whatever its status.
    expect(others.map(({ labels, count }) => [labels?.error_type, count])).toEqual([
      [undefined, 100 - MAX],
      ['_OTHER', 200],
    ]);
    const failed = (await read(ATTEMPTS)).filter(({ labels }) => labels?.error_type !== undefined);
    expect(failed).toHaveLength(MAX + 1);
    expect(failed.find(({ labels }) => labels?.error_type === '_OTHER')?.count).toBe(200 - MAX);
  });

  it('is bounded for a transport that fails with any code', async () => {
    let requests = 0;
    const transport: WebhookTransport = {
      post: () => Promise.reject(Object.assign(new Error('failed'), { code: `request_${requests++}` })),
    };
    const { relay, read, counted } = await start({
      destinations: [{ name: 'Odd', urls: ['https://receiver.example/hook'] }],
      delivery: { transport, initialRetryDelay: 1, maxRetryDelay: 1 },
    });
    await relay.track('m1');
    await counted(ATTEMPTS, 2 * MAX);
    for (const metric of [REQUESTS, ATTEMPTS]) {
      const codes = (await read(metric)).flatMap(({ labels }) => labels?.error_type ?? []);
      expect(codes).toHaveLength(MAX + 1);
      expect(codes).toContain('_OTHER');
    }
  });
});
