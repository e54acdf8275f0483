import {
  type RecordKind,
  type RegistryRecord,
  type RegistryStore,
  SESSION_TIME,
  TOMBSTONE_AGE,
} from '../../webhook-destination/queue/registry-store.interface.js';
import type { RedisConnection } from './redis.connection.js';
import type { RedisSignals } from './redis-signals.js';

/** Records that one command reads or forgets; it blocks Redis. */
const PORTION = 1_000;

/** Keys of all scripts: documents by id, revisions of all ids, and revisions of removed ids; those of sessions are apart. */
const KEYS = ['documents', 'revisions', 'removed'];
const SESSION_KEYS = ['documents', 'revisions', 'ended'];

const READ = `
  local rows = {}
  local found = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
  for index = 1, #found, 2 do
    rows[#rows + 1] = { found[index], found[index + 1], redis.call('HGET', KEYS[1], found[index]) }
  end
  return rows`;

const WRITE = `
  local channel, id, expected, document = unpack(ARGV)
  local current = redis.call('HEXISTS', KEYS[1], id) == 1 and redis.call('ZSCORE', KEYS[2], id) or 0
  if tonumber(current) ~= tonumber(expected) then return false end
  local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or 0
  local time = redis.call('TIME')
  local revision = math.max(last + 1, time[1] * 1000 + math.floor(time[2] / 1000))
  redis.call('ZADD', KEYS[2], revision, id)
  if document then
    redis.call('HSET', KEYS[1], id, document)
    redis.call('ZREM', KEYS[3], id)
  else
    redis.call('HDEL', KEYS[1], id)
    redis.call('ZADD', KEYS[3], revision, id)
  end
  redis.pcall('PUBLISH', channel, '') -- a signal that fails does not end the change halfway
  return revision`;

const SWEEP = `
  local ids = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
  for _, id in ipairs(ids) do
    redis.call('ZREM', KEYS[2], id)
    redis.call('ZREM', KEYS[3], id)
  end
  return #ids`;

/** The registry in Redis. */
export class RedisRegistryStore implements RegistryStore {
  readonly changed$ = this.signals.registry$;

  constructor(
    private readonly connection: RedisConnection,
    private readonly signals: RedisSignals,
  ) {}

  async read(after: number): Promise<RegistryRecord[]> {
    const records: RegistryRecord[] = [];
    for (let last = after; ; last = records.at(-1)!.revision) {
      const rows = (await this.run(KEYS, READ, last, PORTION)) as [string, string, string | null][];
      records.push(...rows.map(([id, revision, document]) => toRecord(id, Number(revision), document)));
      if (rows.length < PORTION) return records;
    }
  }

  async write(record: Omit<RegistryRecord, 'revision'>, expected: number): Promise<number | undefined> {
    const { kind, name, document } = record;
    const rest = document === undefined ? [] : [document];
    const channel = this.signals.channels.registry;
    const keys = kind === 'session' ? SESSION_KEYS : KEYS;
    return ((await this.run(keys, WRITE, channel, `${kind} ${name}`, expected, ...rest)) as number) ?? undefined;
  }

  /** Forgets records that were removed at least {@link TOMBSTONE_AGE} ago; sessions, {@link SESSION_TIME}. */
  async sweep(now: number): Promise<void> {
    while ((await this.run(KEYS, SWEEP, now - TOMBSTONE_AGE, PORTION)) === PORTION);
    while ((await this.run(SESSION_KEYS, SWEEP, now - SESSION_TIME, PORTION)) === PORTION);
  }

  private run(names: string[], script: string, ...args: (string | number)[]): Promise<unknown> {
    const keys = names.map((name) => this.connection.key('{registry}', name));
    return this.connection.client.eval(script, keys.length, ...keys, ...args);
  }
}

function toRecord(id: string, revision: number, document: string | null): RegistryRecord {
  const space = id.indexOf(' ');
  const kind = id.slice(0, space) as RecordKind;
  return { kind, name: id.slice(space + 1), revision, document: document ?? undefined };
}
