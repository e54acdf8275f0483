import { QueueUnavailableError } from '../../../common/relay.errors.js';
import type { SharedQueueOptions } from '../shared/shared-queue.options.js';
import type { Client } from './redis.connection.js';

/** Version of the layout of keys and jobs, increased when processes of two releases could not share them. */
const LAYOUT = 1;

/**
 * Checks the layout of the keys under a prefix, and records it if there is none.
 * @throws {QueueUnavailableError} when they have another layout, or there are none and the queue must exist
 */
export async function checkLayout(client: Client, { prefix, mustExist }: SharedQueueOptions): Promise<void> {
  const key = `${prefix}:{layout}`;
  const found = await client.get(key);
  if (found === null && mustExist) {
    throw new QueueUnavailableError(
      `bullmqQueue: Redis holds no queue with the prefix "${prefix}"; check prefix and URL`,
    );
  } else if (found === null) {
    // A full Redis refuses this; a later start records it.
    await client.set(key, LAYOUT, 'NX').catch(() => undefined);
  } else if (Number(found) !== LAYOUT) {
    throw new QueueUnavailableError(
      `bullmqQueue: the keys with the prefix "${prefix}" have layout ${found}, from another version of this package; ` +
        `this one has layout ${LAYOUT}: install the other version, or use another prefix`,
    );
  }
}
