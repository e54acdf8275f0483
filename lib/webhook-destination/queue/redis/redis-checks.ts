import { LineLogger } from '../../../common/line.logger.js';
import { QueueUnavailableError } from '../../../common/relay.errors.js';
import { isAtLeast } from '../../peer.check.js';
import type { Client } from './redis.connection.js';

const logger = new LineLogger('BullmqQueue');

/** Oldest version of Redis that has all required commands. */
const OLDEST = '6.2';

/**
 * Checks the version of Redis, and warns of settings that may lose deliveries.
 * @throws {QueueUnavailableError} when it is too old
 */
export async function checkRedis(client: Client): Promise<void> {
  const info = await client.info();
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const version = read('redis_version') ?? '';
  if (!isAtLeast(version, OLDEST)) {
    throw new QueueUnavailableError(`bullmqQueue: Redis must be ${OLDEST} or later; this one is ${version}`);
  }
  const policy = read('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    logger.warn(
      `Redis' maxmemory-policy is ${policy}, which evicts deliveries when memory is full: set it to noeviction`,
    );
  }
  if (read('aof_enabled') !== '0') return;
  logger.warn('Redis has no append-only file, so a crash of Redis loses accepted deliveries: set appendonly to yes');
}
