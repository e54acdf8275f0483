import { BullModule, InjectQueue, Processor, WorkerHost } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { type Job, Queue } from 'bullmq';

import { CONCURRENCY, type TrackMessage } from '../../support/messages.js';
import { BatchController, JobQueue, listen, type Peer, type Place } from './peer.js';
import { axiosPost, type SignedPost, undiciPost } from './signed-post.js';
import { REDIS_URL } from './stores.js';

@Injectable()
class BullJobs extends JobQueue {
  constructor(@InjectQueue('webhooks') private readonly queue: Queue<TrackMessage>) {
    super();
  }

  add(batch: TrackMessage[]): Promise<unknown> {
    return this.queue.addBulk(
      batch.map((data) => ({
        name: 'forward',
        data,
        opts: {
          jobId: data.messageId,
          attempts: 10,
          backoff: { type: 'exponential', delay: 10_000 },
          removeOnComplete: { count: 10_000 },
        },
      })),
    );
  }
}

@Processor('webhooks', { concurrency: CONCURRENCY })
class ForwardWorker extends WorkerHost {
  static post: SignedPost;

  process({ data }: Job<TrackMessage>): Promise<void> {
    return ForwardWorker.post(data);
  }
}

/**
 * BullMQ as `@nestjs/bullmq` and its documentation have it: `addBulk`, one worker with a concurrency, finished jobs removed.
 *
 * @see https://docs.bullmq.io/guide/nestjs
 * @see https://docs.bullmq.io/guide/going-to-production
 */
export const bullmq = (client: 'axios' | 'undici'): Peer => ({
  start({ receiver, prefix }) {
    ForwardWorker.post = client === 'axios' ? axiosPost(receiver) : undiciPost(receiver);
    return listen({
      imports: [
        BullModule.forRoot({ connection: { url: REDIS_URL }, prefix }),
        BullModule.registerQueue({ name: 'webhooks' }),
      ],
      controllers: [BatchController],
      providers: [ForwardWorker, { provide: JobQueue, useClass: BullJobs }],
    });
  },

  async left({ prefix }: Place) {
    const queue = new Queue('webhooks', { connection: { url: REDIS_URL }, prefix });
    const counts = await queue.getJobCounts('active', 'waiting', 'delayed');
    await queue.close();
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  },
});
