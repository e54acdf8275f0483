import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type DeliveryQueue, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';

import { temporaryFolder } from '../../../support/temporary-folder.js';
import { itConforms } from './delivery-queue.conformance.js';

jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

itConforms({
  name: 'SQLite',
  create: async (retention) => {
    const folder = await temporaryFolder();
    return { factory: sqliteQueue({ path: folder.path('relay.db'), retention }), remove: folder.remove };
  },
});

itConforms({
  name: 'memory',
  create: (retention) => {
    // What it holds lives as long as the queue does.
    let queue: DeliveryQueue | undefined;
    const factory = () => (queue ??= memoryQueue({ retention })());
    return Promise.resolve({ factory, remove: () => Promise.resolve() });
  },
});
