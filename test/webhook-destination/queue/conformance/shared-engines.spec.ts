import { Logger } from '@nestjs/common';
import { Redis as Redis5 } from 'ioredis5';
import { vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { describeOnEach, postgresStore, redisStore, type SharedStore } from '../../../support/services.js';
import { itConforms, type QueueEngine } from './delivery-queue.conformance.js';
import { itSearches } from './delivery-search.conformance.js';
import { itKeepsLogs } from './log-store.conformance.js';
import { itKeepsARegistry } from './registry-store.conformance.js';
import { itKeepsSeries } from './series-store.conformance.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

/** A client of the oldest supported ioredis; those that a URL opens are of the newest. */
const oldestClient = new Redis5(redisStore.url, { lazyConnect: true });
const oldestRedisStore: SharedStore = {
  ...redisStore,
  name: 'Redis, with ioredis 5.4',
  create: () => {
    const { options, remove } = redisStore.create();
    return { options: { ...options, connection: oldestClient }, remove };
  },
};

await describeOnEach([redisStore, oldestRedisStore, postgresStore], (store) => {
  const engine: QueueEngine = {
    name: store.name,
    isShared: true,
    create: (retention) => {
      const { options, remove } = store.create();
      return Promise.resolve({ factory: sharedQueue({ ...options, retention }), remove });
    },
  };
  itConforms(engine);
  itKeepsARegistry(engine);
  itSearches(engine);
  itKeepsSeries(engine);
  itKeepsLogs(engine);
});
