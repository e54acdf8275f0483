import type { Cluster, Redis } from 'ioredis';

import type { LineLogger } from '../../../common/line.logger.js';
import { QueueUnavailableError } from '../../../common/relay.errors.js';

/** The oldest Redis that has all commands needed. */
const MINIMUM_VERSION = [6, 2];

/**
 * Checks the version of Redis, and warns of settings that may lose deliveries.
 * @throws {QueueUnavailableError} when it is too old
 */
export async function checkRedis(client: Redis | Cluster, logger: LineLogger): Promise<void> {
  const info = parseInfo(await client.info());
  const version = info.get('redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < MINIMUM_VERSION[0]! || (major === MINIMUM_VERSION[0] && minor < MINIMUM_VERSION[1]!)) {
    throw new QueueUnavailableError(
      `bullmqQueue: Redis must be ${MINIMUM_VERSION.join('.')} or later; this one is ${version}`,
    );
  }
  const policy = info.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    logger.warn(
      `Redis' maxmemory-policy is ${policy}, which evicts deliveries when memory is full: set it to noeviction`,
    );
  }
  if (info.get('aof_enabled') !== '0') return;
  logger.warn('Redis has no append-only file, so a crash of Redis loses accepted deliveries: set appendonly to yes');
}

function parseInfo(text: string): Map<string, string> {
  return new Map(
    text.split('\r\n').flatMap((line) => {
      const [name, value] = line.split(':', 2);
      return value === undefined ? [] : [[name!, value] as const];
    }),
  );
}
