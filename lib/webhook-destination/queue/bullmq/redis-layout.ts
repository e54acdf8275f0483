import { QueueUnavailableError } from '../../../common/relay.errors.js';
import type { Client } from './redis.connection.js';

/** The layout of keys and jobs. It changes where processes of two versions could not share them. */
const LAYOUT = 1;

/**
 * Reads the layout of the keys under a prefix, and notes it where there is none.
 * @throws {QueueUnavailableError} when a newer version has written them
 */
export async function checkLayout(client: Client, prefix: string): Promise<void> {
  const key = `${prefix}:{layout}`;
  const found = await client.get(key);
  if (found === null) {
    // A full Redis refuses it; the start of another process makes up for that.
    await client.set(key, LAYOUT, 'NX').catch(() => undefined);
  } else if (Number(found) > LAYOUT) {
    throw new QueueUnavailableError(
      `bullmqQueue: the keys with the prefix "${prefix}" have layout ${found}, from a newer version of this package; ` +
        `this one reads layouts up to ${LAYOUT}: install the newer version, or use another prefix`,
    );
  }
}
