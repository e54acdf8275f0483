import type { NewJob } from './job.codec.js';
import { run } from './redis-due-list.js';
import type { RedisConnection } from './redis.connection.js';

/** A job that has a key. */
export interface KeyedJob {
  queueName: string;
  jobId: string;
  /** When its message was accepted, in ms since the epoch. */
  acceptedAt: number;
}

/**
 * Jobs by the keys of values that their deliveries are searched by: for each key a sorted set, whose scores are the times
 * of acceptance, and for each queue a hash with the keys of each job, so that they can be removed when the job is gone.
 */
export class SearchKeys {
  constructor(private readonly connection: RedisConnection) {}

  async add(queueName: string, jobs: NewJob[]): Promise<void> {
    const keyed = jobs.filter(({ keys }) => keys.length > 0);
    if (keyed.length === 0) return;
    const commands = this.connection.client.pipeline();
    for (const { jobId, job, keys } of keyed) {
      commands.hset(this.jobsKey(queueName), jobId, keys.join(','));
      // A repeated message keeps the time of the existing job.
      for (const key of keys) commands.zadd(this.setKey(key), 'NX', job.timestamp, toMember(queueName, jobId));
    }
    await run(commands);
  }

  /** Removes the keys of removed jobs. */
  async forget(queueName: string, ids: string[]): Promise<void> {
    const found = await this.connection.client.hmget(this.jobsKey(queueName), ...ids);
    if (found.every((keys) => keys === null)) return;
    const commands = this.connection.client.pipeline().hdel(this.jobsKey(queueName), ...ids);
    for (const [index, keys] of found.entries()) {
      for (const key of keys?.split(',') ?? []) commands.zrem(this.setKey(key), toMember(queueName, ids[index]!));
    }
    await run(commands);
  }

  /**
   * Returns the rank of the first job after this one. If it has been removed, that of the first job of the same time, which
   * {@link follows} tells apart.
   */
  async rankAfter(key: number, { queueName, jobId, acceptedAt }: KeyedJob): Promise<number> {
    const rank = await this.connection.client.zrevrank(this.setKey(key), toMember(queueName, jobId));
    return rank === null ? this.connection.client.zcount(this.setKey(key), `(${acceptedAt}`, '+inf') : rank + 1;
  }

  /** Returns jobs with a key, by their rank: the newest first. */
  async find(key: number, rank: number, count: number): Promise<KeyedJob[]> {
    const found = await this.connection.client.zrevrange(this.setKey(key), rank, rank + count - 1, 'WITHSCORES');
    const jobs: KeyedJob[] = [];
    for (let index = 0; index < found.length; index += 2) {
      const [queueName = '', jobId = ''] = found[index]!.split(':');
      jobs.push({ queueName, jobId, acceptedAt: Number(found[index + 1]) });
    }
    return jobs;
  }

  private setKey(key: number | string): string {
    return this.connection.key('{search}', String(key));
  }

  private jobsKey(queueName: string): string {
    return this.connection.key('{searched}', queueName);
  }
}

/** Whether a job comes after another one in the order of ranks. */
export function follows(job: KeyedJob, other: KeyedJob): boolean {
  if (job.acceptedAt !== other.acceptedAt) return job.acceptedAt < other.acceptedAt;
  return toMember(job.queueName, job.jobId) < toMember(other.queueName, other.jobId);
}

function toMember(queueName: string, jobId: string): string {
  return `${queueName}:${jobId}`;
}
