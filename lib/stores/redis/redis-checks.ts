import { errorMessage } from '../../client/error.util.js';
import { LineLogger } from '../../common/line.logger.js';
import { QueueUnavailableError } from '../../common/relay.errors.js';
import { isAtLeast } from '../../common/peer.check.js';
import type { RedisQueueOptions } from './redis.options.js';
import type { Client } from './redis.connection.js';

const logger = new LineLogger('BullmqQueue');

/** Oldest version of Redis that has all required commands. */
const OLDEST = '6.2';

/** Version of the layout of keys and jobs, increased when processes of two releases could not share them. */
const LAYOUT = 1;

/** Commands of the queue, and of the scripts of BullMQ that it runs. */
const COMMANDS = `del evalsha exists get hdel hexists hget hgetall hincrby hmget hmset hset incr lindex llen lpop lpos
  lpush lrange lrem lset ltrim mget persist pexpire pttl rpop rpoplpush rpush sadd scard set smembers srem sscan time xadd xtrim
  zadd zcard zcount zmscore zpopmin zrange zrangebyscore zrem zremrangebyrank zremrangebyscore zrevrange
  zrevrangebyscore zscore`.split(/\s+/);

/**
 * Returns the commands of the calls that the user may not make. Redis 6 cannot know. The calls must be complete: Redis
 * 7.0 crashes on a call without the keys that its command has.
 */
const FIND_DENIED = `
  local denied = {}
  for _, call in ipairs(cjson.decode(ARGV[1])) do
    if redis.acl_check_cmd and not redis.acl_check_cmd(unpack(call)) then denied[#denied + 1] = call[1] end
  end
  return denied`;

/**
 * Checks that Redis suits the queue, and that it grants the permissions; warns of settings that may lose deliveries.
 * Records the layout of the keys if there are none.
 *
 * @param keys some keys of the queue, in different slots of a cluster unless the prefix has a hash tag
 * @param channels for signals
 * @throws {QueueUnavailableError} that says what does not suit, or what is missing
 */
export async function checkRedis(
  client: Client,
  { prefix, mustExist }: RedisQueueOptions,
  keys: string[],
  channels: string[],
): Promise<void> {
  await checkServer(client);
  await checkPermissions(client, prefix, keys, channels);
  await checkLayout(client, prefix, mustExist);
}

async function checkServer(client: Client): Promise<void> {
  let info: string;
  try {
    info = await client.info();
  } catch (error) {
    if (!isDenied(error)) throw error;
    logger.warn('The Redis user lacks +info, so the settings maxmemory-policy and appendonly are not checked');
    return;
  }
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const version = read('redis_version') ?? '';
  if (!isAtLeast(version, OLDEST)) fail(`Redis must be ${OLDEST} or later; this one is ${version}`);
  const policy = read('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    logger.warn(
      `Redis' maxmemory-policy is ${policy}, which evicts deliveries when memory is full: set it to noeviction`,
    );
  }
  if (read('aof_enabled') !== '0') return;
  logger.warn('Redis has no append-only file, so a crash of Redis loses accepted deliveries: set appendonly to yes');
}

async function checkPermissions(client: Client, prefix: string, keys: string[], channels: string[]): Promise<void> {
  const lacks = (missing: string) => fail(`the Redis user lacks permissions: ${missing}`);
  try {
    await client.eval('return 1', keys.length, ...keys);
  } catch (error) {
    const reason = errorMessage(error);
    if (/^(MOVED|ASK) /.test(reason)) fail('connection must be an ioredis Cluster: this Redis is a node of a cluster');
    if (reason.startsWith('CROSSSLOT')) {
      fail(`prefix must contain a hash tag on a Redis cluster, such as "{${prefix}}"`);
    }
    if (!isDenied(error)) throw error;
    lacks(reason.includes("'eval'") ? '+eval' : `~${prefix}:*`);
  }
  const [key] = keys;
  const denied = await findDenied(
    client,
    COMMANDS.map((command) => (command === 'evalsha' ? [command, '', '0'] : [command, key!, key!, key!])),
  );
  if (denied.length > 0) lacks(denied.map((command) => `+${command}`).join(' '));
  const signals = channels.flatMap((channel) => [
    ['publish', channel, ''],
    ['subscribe', channel],
  ]);
  if ((await findDenied(client, signals)).length === 0) return;
  logger.warn(
    `The Redis user lacks permissions for signals between processes: +publish +subscribe &${prefix}:*. ` +
      'Without them, processes poll for due deliveries and changes every 5 s',
  );
}

async function findDenied(client: Client, calls: string[][]): Promise<string[]> {
  return (await client.eval(FIND_DENIED, 0, JSON.stringify(calls))) as string[];
}

async function checkLayout(client: Client, prefix: string, mustExist = false): Promise<void> {
  const key = `${prefix}:{layout}`;
  const found = await client.get(key);
  if (found === null && mustExist) {
    fail(`Redis holds no queue with the prefix "${prefix}"; check prefix and URL`);
  } else if (found === null) {
    // A full Redis refuses this; a later start records it.
    await client.set(key, LAYOUT, 'NX').catch(() => undefined);
  } else if (Number(found) !== LAYOUT) {
    fail(
      `the keys with the prefix "${prefix}" have layout ${found}, from another version of this package; ` +
        `this one has layout ${LAYOUT}: install the other version, or use another prefix`,
    );
  }
}

function isDenied(error: unknown): boolean {
  return errorMessage(error).startsWith('NOPERM');
}

function fail(reason: string): never {
  throw new QueueUnavailableError(`bullmqQueue: ${reason}`);
}
