import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Logger, makeWorkerUtils, run, type WorkerUtils } from 'graphile-worker';

import { CONCURRENCY, type TrackMessage } from '../../support/messages.js';
import { BatchController, JobQueue, listen, type Peer, type Place } from './peer.js';
import { undiciPost } from './signed-post.js';
import { countRows, POSTGRES_URL } from './stores.js';

/** Without a line for each job. */
const logger = new Logger(() => (level, message) => {
  if (level === 'error' || level === 'warning') console.error(message);
});

/**
 * graphile-worker with the settings of its page on performance: a local queue of 500 jobs, and completed jobs in groups.
 *
 * @see https://worker.graphile.org/docs/performance
 */
@Injectable()
class GraphileJobs extends JobQueue implements OnApplicationBootstrap {
  private utils!: WorkerUtils;

  constructor(@Inject('place') private readonly place: Place) {
    super();
  }

  async onApplicationBootstrap(): Promise<void> {
    const { receiver, prefix } = this.place;
    const post = undiciPost(receiver);
    this.utils = await makeWorkerUtils({ connectionString: POSTGRES_URL, schema: prefix, logger });
    await this.utils.migrate();
    await run({
      logger,
      preset: {
        worker: {
          connectionString: POSTGRES_URL,
          schema: prefix,
          concurrentJobs: CONCURRENCY,
          maxPoolSize: CONCURRENCY + 1,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
      taskList: { forward: (payload) => post(payload as TrackMessage) },
    });
  }

  add(batch: TrackMessage[]): Promise<unknown> {
    return this.utils.addJobs(batch.map((payload) => ({ identifier: 'forward', payload })));
  }
}

export const graphileWorker: Peer = {
  start: (place) =>
    listen({
      controllers: [BatchController],
      providers: [
        { provide: 'place', useValue: place },
        { provide: JobQueue, useClass: GraphileJobs },
      ],
    }),
  left: ({ prefix }) => countRows(`${prefix}.jobs`),
};
