import {
  idsFrom,
  type RefusalRecord,
  type RefusalStore,
} from '../../webhook-destination/queue/refusal-store.interface.js';
import type { RedisConnection } from './redis.connection.js';

/** Records that one command writes; it blocks Redis. */
const PORTION = 25;

/** Keys of all scripts: of all sources, by the time of their oldest record; of one source, ids, heads and texts by id. */
const KEYS = ['ids', 'heads', 'texts'];

/** Removes ids, and sets the time of what is then the oldest. */
const REMOVE = `
  local removed = 0
  local function remove(id)
    removed = removed + redis.call('ZREM', KEYS[2], id)
    redis.call('HDEL', KEYS[3], id)
    redis.call('HDEL', KEYS[4], id)
  end
  local function list(source)
    local oldest = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
    if oldest then redis.pcall('ZADD', KEYS[1], tonumber(string.sub(oldest, 1, 9), 36), source) -- a full Redis refuses it
    else redis.call('ZREM', KEYS[1], source) end
  end`;

const KEEP = `${REMOVE}
  for index = 3, #ARGV, 3 do
    local id, head, text = unpack(ARGV, index, index + 2)
    redis.call('ZADD', KEYS[2], 0, id)
    redis.call('HSET', KEYS[3], id, head)
    redis.call('HSET', KEYS[4], id, text)
  end
  local surplus = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[2])
  if surplus > 0 then
    for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, surplus - 1)) do remove(id) end
  end
  list(ARGV[1])`;

const LIST = `
  local rows = {}
  local after = ARGV[1] == '' and '+' or '(' .. ARGV[1]
  for _, id in ipairs(redis.call('ZRANGE', KEYS[2], after, '-', 'BYLEX', 'REV', 'LIMIT', 0, ARGV[2])) do
    rows[#rows + 1] = { id, redis.call('HGET', KEYS[3], id) }
  end
  return rows`;

const UPDATE = `
  for index = 1, #ARGV, 2 do
    if redis.call('HEXISTS', KEYS[3], ARGV[index]) == 1 then
      redis.call('HSET', KEYS[3], ARGV[index], ARGV[index + 1])
    end
  end`;

const REMOVE_IDS = `${REMOVE}
  for index = 2, #ARGV do remove(ARGV[index]) end
  list(ARGV[1])
  return removed`;

const REMOVE_OLD = `${REMOVE}
  local old = redis.call('ZRANGE', KEYS[2], '-', '(' .. ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
  for _, id in ipairs(old) do remove(id) end
  list(ARGV[1])
  return removed`;

/** Messages that ingest has refused, in Redis. */
export class RedisRefusalStore implements RefusalStore {
  constructor(private readonly connection: RedisConnection) {}

  async keep(records: RefusalRecord[], count: number): Promise<boolean> {
    const sources = new Map<string, RefusalRecord[]>();
    for (const record of records) sources.set(record.source, [...(sources.get(record.source) ?? []), record]);
    for (const [source, all] of sources) {
      for (let start = 0; start < all.length; start += PORTION) {
        const values = all.slice(start, start + PORTION).flatMap(({ id, head, text }) => [id, head, text]);
        await this.run(KEEP, source, source, count, ...values);
      }
    }
    return true;
  }

  sources(): Promise<string[]> {
    return this.connection.client.zrangebyscore(this.key('sources'), '-inf', '+inf');
  }

  async list(source: string, after: string | undefined, limit: number): Promise<Omit<RefusalRecord, 'text'>[]> {
    const rows = (await this.run(LIST, source, after ?? '', limit)) as [string, string][];
    return rows.map(([id, head]) => ({ id, source, head }));
  }

  async read(source: string, ids: string[]): Promise<RefusalRecord[]> {
    const newestFirst = [...ids].sort().reverse();
    const [, , heads, texts] = this.keysOf(source);
    const read = async (key: string) => this.connection.client.hmget(key, ...newestFirst);
    const [foundHeads, foundTexts] = [await read(heads!), await read(texts!)];
    return newestFirst.flatMap((id, index) => {
      const [head, text] = [foundHeads[index], foundTexts[index]];
      return head == null || text == null ? [] : [{ id, source, head, text }];
    });
  }

  async update(source: string, heads: Pick<RefusalRecord, 'id' | 'head'>[]): Promise<void> {
    await this.run(UPDATE, source, ...heads.flatMap(({ id, head }) => [id, head]));
  }

  async remove(source: string, ids: string[]): Promise<number> {
    return (await this.run(REMOVE_IDS, source, source, ...ids)) as number;
  }

  async removeOld(before: number, most: number): Promise<number> {
    let removed = 0;
    const sources = await this.connection.client.zrangebyscore(this.key('sources'), '-inf', `(${before}`);
    for (const source of sources) {
      removed += (await this.run(REMOVE_OLD, source, source, idsFrom(before), most - removed)) as number;
      if (removed === most) break;
    }
    return removed;
  }

  private run(script: string, source: string, ...args: (string | number)[]): Promise<unknown> {
    const keys = this.keysOf(source);
    return this.connection.client.eval(script, keys.length, ...keys, ...args);
  }

  private keysOf(source: string): string[] {
    return [this.key('sources'), ...KEYS.map((name) => this.key(name, source))];
  }

  private key(...parts: string[]): string {
    return this.connection.key('{refusals}', ...parts);
  }
}
