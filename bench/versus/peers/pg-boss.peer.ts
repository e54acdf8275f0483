import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type JobResult, PgBoss } from 'pg-boss';

import { CONCURRENCY, type TrackMessage } from '../../support/messages.js';
import { BatchController, JobQueue, listen, type Peer, type Place } from './peer.js';
import { type SignedPost, undiciPost } from './signed-post.js';
import { countRows, POSTGRES_URL } from './stores.js';

/**
 * pg-boss as its documentation has it for many small jobs: `insert`, workers that take batches for as long as these are
 * full, a result for each job, and `LISTEN/NOTIFY`. A heartbeat finds the jobs of a dead worker; without it, they expire
 * after 15 minutes.
 *
 * @see https://github.com/timgit/pg-boss/blob/master/docs/api/workers.md
 * @see https://github.com/timgit/pg-boss/blob/master/docs/api/queues.md
 */
@Injectable()
class BossJobs extends JobQueue implements OnApplicationBootstrap {
  private readonly boss: PgBoss;
  private readonly post: SignedPost;

  constructor(@Inject('place') { receiver, prefix }: Place) {
    super();
    this.post = undiciPost(receiver);
    this.boss = new PgBoss({
      connectionString: POSTGRES_URL,
      schema: prefix,
      useListenNotify: true,
      superviseIntervalSeconds: 30,
      monitorIntervalSeconds: 30,
    });
    this.boss.on('error', (error) => console.error(error));
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.boss.start();
    await this.boss.createQueue('webhooks', {
      notify: true,
      retryLimit: 10,
      retryDelay: 10,
      retryBackoff: true,
      heartbeatSeconds: 30,
    });
    await this.boss.work<TrackMessage>(
      'webhooks',
      {
        batchSize: CONCURRENCY,
        // One worker fetches while the other posts. The connections of the pool bound the requests in flight.
        localConcurrency: 2,
        burstWhenBatchFull: true,
        perJobResults: true,
        pollingIntervalSeconds: 0.5,
      },
      (jobs) =>
        Promise.all(
          jobs.map(async ({ id, data }): Promise<JobResult> => {
            try {
              await this.post(data);
              return { id, status: 'completed' };
            } catch (error) {
              return { id, status: 'failed', output: { message: String(error) } };
            }
          }),
        ),
    );
  }

  add(batch: TrackMessage[]): Promise<unknown> {
    return this.boss.insert(
      'webhooks',
      batch.map((data) => ({ data })),
    );
  }
}

export const pgBoss: Peer = {
  start: (place) =>
    listen({
      controllers: [BatchController],
      providers: [
        { provide: 'place', useValue: place },
        { provide: JobQueue, useClass: BossJobs },
      ],
    }),
  left: ({ prefix }) => countRows(`${prefix}.job WHERE state IN ('created', 'retry', 'active')`),
};
