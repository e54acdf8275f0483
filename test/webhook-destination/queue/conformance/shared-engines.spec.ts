import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';

import { sharedQueue } from '../../../support/shared-queue.js';
import { describeOnEach, postgresStore, redisStore } from '../../../support/services.js';
import { itConforms, type QueueEngine } from './delivery-queue.conformance.js';
import { itSearches } from './delivery-search.conformance.js';
import { itKeepsARegistry } from './registry-store.conformance.js';
import { itKeepsSeries } from './series-store.conformance.js';

jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

await describeOnEach([redisStore, postgresStore], (store) => {
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
});
