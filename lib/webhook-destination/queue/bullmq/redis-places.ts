import type { JobType } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';

import type { DeliveryState } from '../delivery-queue.interface.js';
import { TYPES } from './job.finder.js';
import type { JobPlace } from './shared-store.interface.js';

/** Types of jobs that BullMQ keeps in a list; all others are in a sorted set. */
const LISTS: JobType[] = ['wait', 'active'];

/** Jobs whose times are read with one command. */
const PLACES = 1_000;

/** When the messages of jobs were accepted. BullMQ keeps that beside the body, and only a script reads one field of many jobs. */
const ACCEPTED_AT = `
  local times = {}
  for index, id in ipairs(ARGV) do times[index] = redis.call('HGET', KEYS[1] .. id, 'timestamp') end
  return times`;

/**
 * The jobs in these states: their ids at one moment, and then their times in portions, as Redis does nothing else
 * meanwhile. BullMQ's own script for ids takes Redis several times as long.
 *
 * @param key what the keys of the queue begin with
 */
export async function readPlaces(
  client: Redis | Cluster,
  key: string,
  states: readonly DeliveryState[],
): Promise<JobPlace[]> {
  const multi = client.multi();
  const types = states.flatMap((state) => TYPES[state].map((type) => ({ state, type })));
  for (const { type } of types) {
    if (LISTS.includes(type)) multi.lrange(key + type, 0, -1);
    else multi.zrange(key + type, 0, -1);
  }
  const places: JobPlace[] = [];
  for (const [index, [error, found]] of ((await multi.exec()) ?? []).entries()) {
    if (error) throw error;
    const ids = found as string[];
    for (let start = 0; start < ids.length; start += PLACES) {
      const some = ids.slice(start, start + PLACES);
      const times = (await client.eval(ACCEPTED_AT, 1, key, ...some)) as (string | null)[];
      some.forEach((id, at) => {
        if (times[at] !== null) places.push({ id, state: types[index]!.state, acceptedAt: Number(times[at]) });
      });
    }
  }
  return places;
}
