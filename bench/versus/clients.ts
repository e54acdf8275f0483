import { setTimeout as sleep } from 'node:timers/promises';

import Rudder from '@rudderstack/rudder-sdk-node';

import { contenders } from '../client/contenders.mjs';
import { name as event, properties, userId } from '../client/event.mjs';
import { REDIS_URL } from './peers/stores.js';

/** A client, as the bench drives it. */
export interface Client {
  record(): void;
  /** Resolves once all that was recorded has been delivered. */
  flush(): Promise<void>;
}

interface ClientOptions {
  create: (url: string, batchSize: number, prefix: string) => Client | Promise<Client>;
  /** Its default of `flushAt`. */
  flushAt: number;
  /** Events recorded between two flushes, before and while CPU is counted. */
  round: number;
  warmUp: number;
  events: number;
  /** What it has recorded may be in Redis. */
  isPersistent?: boolean;
}

const USUAL = { round: 2_000, warmUp: 10_000, events: 40_000 };

/** RudderStack's client with what its documentation calls persistence: batches wait in a queue of Bull. */
async function rudderPersistent(url: string, batchSize: number, prefix: string): Promise<Client> {
  const analytics = new Rudder('wk_bench', { dataPlaneUrl: url, flushAt: batchSize, gzip: false, logLevel: 'error' });
  const { hostname: host, port } = new URL(REDIS_URL);
  const queueOptions = { prefix, redisOpts: { host, port: Number(port || 6_379) } };
  const open = () =>
    new Promise<boolean>((resolve) => analytics.createPersistenceQueue(queueOptions, (error) => resolve(!error)));
  // The lock of a killed process holds its batch for 30 s; until then there is an error, after which one is to try again.
  while (!(await open())) await sleep(5_000);
  const under = new Set<() => void>();
  let drained: (() => void) | undefined;
  return {
    record() {
      const delivered = () => {
        under.delete(delivered);
        if (under.size === 0) drained?.();
      };
      under.add(delivered);
      analytics.track({ userId, event, properties }, delivered);
    },
    async flush() {
      const all = new Promise<void>((resolve) => (drained = resolve));
      await analytics.flush();
      if (under.size > 0) await all;
    },
  };
}

// It measures its whole queue for every event: of a longer queue, each event costs more.
const RUDDER = { flushAt: 20, round: 200, warmUp: 2_000, events: 8_000 };

/** By name, in the order of the table. */
export const CLIENTS: Record<string, ClientOptions> = {
  'floor: `JSON.stringify`, `node:http`': { create: contenders['floor, node:http'], flushAt: 15, ...USUAL },
  '**this package**, `keepAliveHttpClient()`': {
    create: contenders['ours, keepAliveHttpClient'],
    flushAt: 15,
    ...USUAL,
  },
  '**this package**, `fetch`': { create: contenders['ours, fetch'], flushAt: 15, ...USUAL },
  '@segment/analytics-node': { create: contenders['@segment/analytics-node'], flushAt: 15, ...USUAL },
  'posthog-node': { create: contenders['posthog-node'], flushAt: 20, ...USUAL },
  '@rudderstack/rudder-sdk-node': { create: contenders['@rudderstack/rudder-sdk-node'], ...RUDDER },
  '@rudderstack/rudder-sdk-node, persistence in Redis': {
    create: rudderPersistent,
    ...RUDDER,
    warmUp: 200,
    events: 1_000,
    isPersistent: true,
  },
};
