import type { ChainableCommander } from 'ioredis';

import type { RedisConnection } from './redis.connection.js';
import type { RedisSignals } from './redis-signals.js';

/** Names read with one command, which blocks Redis. */
const PORTION = 1_000;

/** Wait before the next check of a destination while another check may be in progress or leases are held, in ms. */
const LOOK_INTERVAL = 15_000;

/** Sets the time of the next check of destinations, or unlists them, unless their entry has changed meanwhile. */
const SETTLE = `
  for index = 2, #ARGV, 2 do
    local name, moment = ARGV[index], ARGV[index + 1]
    if tonumber(redis.call('ZSCORE', KEYS[1], name) or 0) == tonumber(ARGV[1]) then
      if moment == '' then redis.call('ZREM', KEYS[1], name) else redis.call('ZADD', KEYS[1], moment, name) end
    end
  end`;

/**
 * Sorted set of the destinations that have open deliveries, by the time at which a process must check each of them.
 * A destination is listed by the time its delivery is accepted, until a process finds it without open deliveries.
 */
export class RedisDueList {
  private readonly key = this.connection.key('due');

  constructor(
    private readonly connection: RedisConnection,
    private readonly signals: RedisSignals,
  ) {}

  /**
   * Returns the destinations that a process must check by `until`.
   *
   * @param until in ms since the epoch
   */
  async names(until: number | '+inf'): Promise<string[]> {
    const names: string[] = [];
    for (let read = PORTION; read === PORTION;) {
      const some = await this.connection.client.zrangebyscore(this.key, '-inf', until, 'LIMIT', names.length, PORTION);
      read = some.length;
      names.push(...some);
    }
    return [...new Set(names)];
  }

  /** Adds a command that schedules a check of these destinations now; the list must not be empty. */
  add(commands: ChainableCommander, destinations: string[]): ChainableCommander {
    const now = Date.now();
    return commands.zadd(this.key, 'LT', ...destinations.flatMap((name) => [now, name]));
  }

  /** Runs commands, schedules a check of these destinations now, and notifies all processes. */
  async announce(commands: ChainableCommander, destinations: string[]): Promise<void> {
    const all = this.add(commands, destinations).publish(...this.signals.dueMessage(destinations));
    toResults((await all.exec())?.slice(0, -1)); // without the signal, the others find them by polling
  }

  /** Schedules a check of a destination at `moment`, in ms since the epoch, unless an earlier one is scheduled. */
  async plan(destination: string, moment: number): Promise<void> {
    await this.connection.client.zadd(this.key, 'LT', moment, destination);
  }

  /** Lists a destination that has open deliveries, if it is missing. */
  async restore(destination: string): Promise<void> {
    await this.connection.client.zadd(this.key, 'NX', Date.now() + LOOK_INTERVAL, destination);
  }

  /**
   * Postpones the next check of these destinations; resolves with the new time, which no other process sets. Deliveries
   * that fall due from now on set another time.
   */
  async putOff(destinations: string[]): Promise<number> {
    const moment = Date.now() + LOOK_INTERVAL * (1 + Math.random() / 10);
    await this.connection.client.zadd(this.key, 'XX', ...destinations.flatMap((name) => [moment, name]));
    return moment;
  }

  /**
   * Sets the next check of each of these destinations, or removes it from the list if that is undefined, unless its
   * entry has changed since it was postponed.
   */
  async settle(putOffTo: number, moments: [destination: string, moment: number | undefined][]): Promise<void> {
    const args = moments.flatMap(([name, moment]) => [name, moment ?? '']);
    await this.connection.client.eval(SETTLE, 1, this.key, putOffTo, ...args);
  }
}

/**
 * Runs commands in one round trip; resolves with their results.
 * @throws {Error} of the first command that failed
 */
export async function run(commands: ChainableCommander): Promise<unknown[]> {
  return toResults(await commands.exec());
}

function toResults(answers: [error: Error | null, result: unknown][] | null = []): unknown[] {
  return (answers ?? []).map(([error, result]) => {
    if (error) throw error;
    return result;
  });
}
