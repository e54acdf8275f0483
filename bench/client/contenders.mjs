// Each contender records one event, and flushes: { record(), flush() }.
import { Buffer } from 'node:buffer';
import * as http from 'node:http';
import { name, properties, userId } from './event.mjs';

const MAX_REQUESTS_IN_FLIGHT = 16;

/** No library: JSON.stringify, strings joined into bodies, posted with the given function. */
function floor(post, batchSize) {
  const library = { name: 'nestjs-analytics-relay', version: '0.1.0' };
  const run = Math.random().toString(36).slice(2);
  let count = 0;
  let batch = [];
  const bodies = [];
  const senders = new Set();
  const send = async () => {
    for (let body = bodies.shift(); body; body = bodies.shift()) await post(body);
  };
  const cut = () => {
    bodies.push(`{"batch":[${batch.join(',')}],"writeKey":"wk_bench","sentAt":"${new Date().toISOString()}"}`);
    batch = [];
    if (senders.size === MAX_REQUESTS_IN_FLIGHT) return;
    const sender = send().finally(() => senders.delete(sender));
    senders.add(sender);
  };
  return {
    record() {
      batch.push(
        JSON.stringify({
          type: 'track',
          messageId: `${run}-0000-4000-8000-${String(count++).padStart(12, '0')}`,
          timestamp: new Date().toISOString(),
          userId,
          event: name,
          properties,
          context: { library },
          integrations: {},
          _metadata: { nodeVersion: process.version },
        }),
      );
      if (batch.length === batchSize) cut();
    },
    async flush() {
      if (batch.length > 0) cut();
      await Promise.all(senders);
    },
  };
}

const headers = {
  'Content-Type': 'application/json',
  'User-Agent': 'bench/1.0',
  Authorization: `Basic ${Buffer.from('wk_bench:').toString('base64')}`,
};

function withFetch(url) {
  return async (body) => {
    const response = await globalThis.fetch(`${url}/v1/batch`, { method: 'POST', headers, body });
    await response.text();
  };
}

function withHttp(url) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: MAX_REQUESTS_IN_FLIGHT });
  return (body) =>
    new Promise((resolve, reject) => {
      const request = http.request(`${url}/v1/batch`, {
        agent,
        method: 'POST',
        headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      });
      request.on('error', reject);
      request.on('response', (response) => response.on('end', resolve).resume());
      request.end(body);
    });
}

async function ours(url, batchSize, { keepAlive, callback }) {
  const { Analytics, keepAliveHttpClient } = await import('nestjs-analytics-relay/client');
  const analytics = new Analytics({
    writeKey: 'wk_bench',
    host: url,
    maxEventsInBatch: batchSize,
    maxQueueSize: 10_000_000,
    ...(keepAlive && { httpClient: keepAliveHttpClient() }),
  });
  let failed = 0;
  const onEnd = callback ? (err) => (failed += err ? 1 : 0) : undefined;
  return {
    record: () => analytics.track({ userId, event: name, properties }, onEnd),
    async flush() {
      await analytics.flush();
      if (failed > 0) throw new Error(`${failed} events failed`);
    },
  };
}

async function segment(url, batchSize, { callback }) {
  const { Analytics } = await import('@segment/analytics-node');
  const analytics = new Analytics({ writeKey: 'wk_bench', host: url, flushAt: batchSize });
  const onEnd = callback ? () => undefined : undefined;
  return {
    record: () => analytics.track({ userId, event: name, properties }, onEnd),
    flush: () => analytics.flush(),
  };
}

async function rudderstack(url, batchSize) {
  const { default: RudderAnalytics } = await import('@rudderstack/rudder-sdk-node');
  const options = { dataPlaneUrl: url, flushAt: batchSize, maxInternalQueueSize: 10_000_000, gzip: false };
  const analytics = new RudderAnalytics('wk_bench', { ...options, logLevel: 'error' });
  return {
    record: () => analytics.track({ userId, event: name, properties }),
    async flush() {
      while (analytics.queue.length > 0) await analytics.flush();
      await analytics.pendingFlush;
    },
  };
}

async function posthog(url, batchSize) {
  const { PostHog } = await import('posthog-node');
  const options = { flushAt: batchSize, maxBatchSize: batchSize, maxQueueSize: 10_000_000, disableCompression: true };
  const analytics = new PostHog('wk_bench', { host: url, ...options });
  return {
    record: () => analytics.capture({ distinctId: userId, event: name, properties }),
    flush: () => analytics.flush(),
  };
}

/** By name: makes a contender that sends to a URL, in batches of so many events. */
export const contenders = {
  'floor, fetch': (url, batchSize) => floor(withFetch(url), batchSize),
  'floor, node:http': (url, batchSize) => floor(withHttp(url), batchSize),
  'ours, fetch': (url, batchSize) => ours(url, batchSize, {}),
  'ours, fetch, callbacks': (url, batchSize) => ours(url, batchSize, { callback: true }),
  'ours, keepAliveHttpClient': (url, batchSize) => ours(url, batchSize, { keepAlive: true }),
  'ours, keepAliveHttpClient, callbacks': (url, batchSize) => ours(url, batchSize, { keepAlive: true, callback: true }),
  '@segment/analytics-node': (url, batchSize) => segment(url, batchSize, {}),
  '@segment/analytics-node, callbacks': (url, batchSize) => segment(url, batchSize, { callback: true }),
  '@rudderstack/rudder-sdk-node': rudderstack,
  'posthog-node': posthog,
};
