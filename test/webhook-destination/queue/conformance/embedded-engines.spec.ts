import { Logger } from '@nestjs/common';
import { type DeliveryQueue, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { vi } from 'vitest';

import { temporaryFolder } from '../../../support/temporary-folder.js';
import { itConforms, type QueueEngine } from './delivery-queue.conformance.js';
import { itSearches } from './delivery-search.conformance.js';
import { itKeepsLogs } from './log-store.conformance.js';
import { itKeepsARegistry } from './registry-store.conformance.js';
import { itKeepsSeries } from './series-store.conformance.js';

vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

const sqlite: QueueEngine = {
  name: 'SQLite',
  create: async (retention) => {
    const folder = await temporaryFolder();
    return { factory: sqliteQueue({ path: folder.path('relay.db'), retention }), remove: folder.remove };
  },
};

const memory: QueueEngine = {
  name: 'memory',
  create: (retention) => {
    // What it holds lives as long as the queue does.
    let queue: DeliveryQueue | undefined;
    const factory = () => (queue ??= memoryQueue({ retention })());
    return Promise.resolve({ factory, remove: () => Promise.resolve() });
  },
};

for (const engine of [sqlite, memory]) {
  itConforms(engine);
  itKeepsARegistry(engine);
  itSearches(engine);
  itKeepsSeries(engine);
  itKeepsLogs(engine);
}
