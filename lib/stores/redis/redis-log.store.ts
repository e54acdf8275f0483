import {
  type KeptLog,
  type LogRecord,
  type LogStore,
  toIdStart,
} from '../../webhook-destination/queue/log-store.interface.js';
import type { RedisConnection } from './redis.connection.js';

/** Records that one command removes; it blocks Redis. */
const PORTION = 500;

/** How long the keys of a log outlive its last record, in ms: an hour. */
const SPARE_TIME = 60 * 60 * 1_000;

/** Keys of all scripts: the ids of a log, all with the score 0, and the texts by id. */
const KEYS = ['ids', 'texts'];

/** Removes ids; each begins with its time. */
const REMOVE = `
  local function remove(ids)
    for _, id in ipairs(ids) do
      redis.call('ZREM', KEYS[1], id)
      redis.call('HDEL', KEYS[2], id)
    end
  end`;

const WRITE = `${REMOVE}
  local count, oldest, time = ARGV[1], ARGV[2], ARGV[3]
  for index = 4, #ARGV, 2 do
    redis.call('ZADD', KEYS[1], 0, ARGV[index])
    redis.call('HSET', KEYS[2], ARGV[index], ARGV[index + 1])
  end
  local surplus = redis.call('ZCARD', KEYS[1]) - count
  if surplus > 0 then remove(redis.call('ZRANGE', KEYS[1], 0, math.min(surplus, ${PORTION}) - 1)) end
  remove(redis.call('ZRANGE', KEYS[1], '-', '(' .. oldest, 'BYLEX', 'LIMIT', 0, ${PORTION}))
  redis.call('PEXPIRE', KEYS[1], time)
  redis.call('PEXPIRE', KEYS[2], time)`;

const READ = `
  local ids = redis.call('ZRANGE', KEYS[1], '(' .. ARGV[1], '[' .. ARGV[2], 'BYLEX', 'REV', 'LIMIT', 0, ARGV[3])
  local rows = {}
  for index, id in ipairs(ids) do rows[index] = { id, redis.call('HGET', KEYS[2], id) } end
  return rows`;

const SWEEP = `${REMOVE}
  remove(redis.call('ZRANGE', KEYS[1], '-', '(' .. ARGV[1], 'BYLEX', 'LIMIT', 0, ${PORTION}))`;

/** Logs in Redis. */
export class RedisLogStore implements LogStore {
  /** Logs that this process has used, which it sweeps. The keys of the others expire. */
  private readonly logs = new Map<string, KeptLog>();

  constructor(private readonly connection: RedisConnection) {}

  async write(log: KeptLog, records: LogRecord[]): Promise<void> {
    const values = records.flatMap(({ id, text }) => [id, text]);
    await this.run(log, WRITE, log.count, toIdStart(Date.now() - log.age), log.age + SPARE_TIME, ...values);
  }

  async read(log: KeptLog, limit: number, before = '~'): Promise<LogRecord[]> {
    const rows = (await this.run(log, READ, before, toIdStart(Date.now() - log.age), limit)) as [string, string][];
    return rows.map(([id, text]) => ({ id, text }));
  }

  /** Removes records past the age of their log, a portion at a time. */
  async sweep(now: number): Promise<void> {
    for (const log of this.logs.values()) await this.run(log, SWEEP, toIdStart(now - log.age));
  }

  private run(log: KeptLog, script: string, ...args: (string | number)[]): Promise<unknown> {
    this.logs.set(log.name, log);
    const keys = KEYS.map((name) => this.connection.key(`{log}:${log.name}`, name));
    return this.connection.client.eval(script, keys.length, ...keys, ...args);
  }
}
