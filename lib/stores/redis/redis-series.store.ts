import type { SeriesRecord, SeriesStore } from '../../webhook-destination/queue/series-store.interface.js';
import type { RedisConnection } from './redis.connection.js';

/** Records that one command writes; it blocks Redis. */
const PORTION = 100;

/** How long the key of a series outlives its last record, in ms: an hour. */
const SPARE_TIME = 60 * 60 * 1_000;

/** Writes records: a key holds a series by minute, and a member holds the counts of one writer. */
const WRITE = `
  local oldest = ARGV[1]
  for index, key in ipairs(KEYS) do
    local minute, writer, text = unpack(ARGV, index * 3 - 1, index * 3 + 1)
    local head = minute .. ' ' .. writer .. ' '
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, minute, minute)) do
      if string.sub(member, 1, #head) == head then redis.call('ZREM', key, member) end
    end
    redis.call('ZADD', key, minute, head .. text)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. oldest)
    redis.call('PEXPIRE', key, string.format('%d', math.max(minute - oldest, 0) + ${SPARE_TIME}))
  end`;

/** Per-minute figures in Redis. */
export class RedisSeriesStore implements SeriesStore {
  constructor(private readonly connection: RedisConnection) {}

  async write(records: SeriesRecord[], oldest: number): Promise<void> {
    for (let start = 0; start < records.length; start += PORTION) {
      const portion = records.slice(start, start + PORTION);
      const keys = portion.map(({ series }) => this.key(series));
      const values = portion.flatMap(({ minute, writer, text }) => [minute, writer, text]);
      await this.connection.client.eval(WRITE, keys.length, ...keys, oldest, ...values);
    }
  }

  async read(series: string, from: number, to: number): Promise<SeriesRecord[]> {
    const members = await this.connection.client.zrangebyscore(this.key(series), from, to);
    return members.map((member) => {
      const [minute, writer] = member.split(' ', 2) as [string, string];
      return { series, minute: Number(minute), writer, text: member.slice(minute.length + writer.length + 2) };
    });
  }

  private key(series: string): string {
    return this.connection.key('{series}', series);
  }
}
