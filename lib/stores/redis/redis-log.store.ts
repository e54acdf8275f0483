import {
  type KeptLog,
  type LogRecord,
  type LogStore,
  toIdStart,
  type WholeLogRecord,
} from '../../webhook-destination/queue/log-store.interface.js';
import type { RedisConnection } from './redis.connection.js';

/** Records that one command writes; it blocks Redis. */
const WRITTEN = 25;

/** Records past the count of a log that one command removes. */
const SURPLUS = 500;

/**
 * Keys of all scripts: of all logs, by when their oldest record is past its age, and their ages; of one log, its ids, all
 * with the score 0, and texts and attachments by id.
 */
const SHARED_KEYS = ['names', 'ages'];
const KEYS = ['ids', 'texts', 'attachments'];

/** Removes ids, and lists the log, whose name and age come first, by what is then the oldest; each id begins with its time. */
const REMOVE = `
  local removed = 0
  local function remove(ids)
    for _, id in ipairs(ids) do
      removed = removed + redis.call('ZREM', KEYS[3], id)
      redis.call('HDEL', KEYS[4], id)
      redis.call('HDEL', KEYS[5], id)
    end
  end
  local function list()
    local oldest = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
    if oldest then
      local age = redis.call('HGET', KEYS[2], ARGV[1])
      redis.pcall('ZADD', KEYS[1], tonumber(string.sub(oldest, 1, 15)) + age, ARGV[1]) -- a full Redis refuses it
    else
      redis.call('ZREM', KEYS[1], ARGV[1])
      redis.call('HDEL', KEYS[2], ARGV[1])
    end
  end`;

const WRITE = `${REMOVE}
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
  for index = 4, #ARGV, 3 do
    local id, text, attachment = unpack(ARGV, index, index + 2)
    redis.call('ZADD', KEYS[3], 0, id)
    redis.call('HSET', KEYS[4], id, text)
    if attachment ~= '' then redis.call('HSET', KEYS[5], id, attachment) else redis.call('HDEL', KEYS[5], id) end
  end
  local surplus = redis.call('ZCARD', KEYS[3]) - ARGV[3]
  if surplus > 0 then remove(redis.call('ZRANGE', KEYS[3], 0, math.min(surplus, ${SURPLUS}) - 1)) end
  list()`;

const UPDATE = `
  for index = 2, #ARGV, 2 do
    if redis.call('HEXISTS', KEYS[4], ARGV[index]) == 1 then
      redis.call('HSET', KEYS[4], ARGV[index], ARGV[index + 1])
    end
  end`;

const READ = `
  local ids = redis.call('ZRANGE', KEYS[3], '(' .. ARGV[2], '[' .. ARGV[3], 'BYLEX', 'REV', 'LIMIT', 0, ARGV[4])
  local rows = {}
  for index, id in ipairs(ids) do rows[index] = { id, redis.call('HGET', KEYS[4], id) } end
  return rows`;

const REMOVE_IDS = `${REMOVE}
  for index = 2, #ARGV do remove({ ARGV[index] }) end
  list()
  return removed`;

const REMOVE_OLD = `${REMOVE}
  local age = redis.call('HGET', KEYS[2], ARGV[1]) or 0
  local oldest = string.format('%015.0f', math.max(ARGV[2] - age, 0) + 1)
  remove(redis.call('ZRANGE', KEYS[3], '-', '(' .. oldest, 'BYLEX', 'LIMIT', 0, ARGV[3]))
  list()
  return removed`;

/** Logs in Redis. */
export class RedisLogStore implements LogStore {
  constructor(private readonly connection: RedisConnection) {}

  async write({ name, age, count }: KeptLog, records: WholeLogRecord[]): Promise<boolean> {
    for (let start = 0; start < records.length; start += WRITTEN) {
      const values = records
        .slice(start, start + WRITTEN)
        .flatMap(({ id, text, attachment = '' }) => [id, text, attachment]);
      await this.run(WRITE, name, age, count, ...values);
    }
    return true;
  }

  async update({ name }: KeptLog, records: LogRecord[]): Promise<void> {
    await this.run(UPDATE, name, ...records.flatMap(({ id, text }) => [id, text]));
  }

  async read({ name, age }: KeptLog, limit: number, before = '~'): Promise<LogRecord[]> {
    const rows = (await this.run(READ, name, before, toIdStart(Date.now() - age), limit)) as [string, string][];
    return rows.map(([id, text]) => ({ id, text }));
  }

  async find({ name, age }: KeptLog, ids: string[]): Promise<WholeLogRecord[]> {
    const oldest = toIdStart(Date.now() - age);
    const newestFirst = ids
      .filter((id) => id >= oldest)
      .sort()
      .reverse();
    if (newestFirst.length === 0) return [];
    const [texts, attachments] = await Promise.all(
      this.keysOf(name)
        .slice(-2)
        .map((key) => this.connection.client.hmget(key, ...newestFirst)),
    );
    return newestFirst.flatMap((id, index) => {
      const text = texts![index];
      return text == null ? [] : [{ id, text, attachment: attachments![index] ?? undefined }];
    });
  }

  async remove({ name }: KeptLog, ids: string[]): Promise<number> {
    return (await this.run(REMOVE_IDS, name, ...ids)) as number;
  }

  async names(start: string): Promise<string[]> {
    const names = await this.connection.client.zrangebyscore(this.key('names'), '-inf', '+inf');
    return names.filter((name) => name.startsWith(start));
  }

  async removeOld(now: number, most: number): Promise<number> {
    let removed = 0;
    for (const name of await this.connection.client.zrangebyscore(this.key('names'), '-inf', String(now))) {
      removed += (await this.run(REMOVE_OLD, name, now, most - removed)) as number;
      if (removed === most) break;
    }
    return removed;
  }

  private run(script: string, name: string, ...args: (string | number)[]): Promise<unknown> {
    const keys = this.keysOf(name);
    return this.connection.client.eval(script, keys.length, ...keys, name, ...args);
  }

  private keysOf(name: string): string[] {
    return [...SHARED_KEYS.map((key) => this.key(key)), ...KEYS.map((key) => this.key(key, name))];
  }

  /** All keys are in one slot of a cluster. */
  private key(...parts: string[]): string {
    return this.connection.key('{log}', ...parts);
  }
}
