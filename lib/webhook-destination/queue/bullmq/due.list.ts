import type { ChainableCommander } from 'ioredis';

import type { Client } from './redis.connection.js';
import type { RedisSignals } from './redis-signals.js';

/** Names read with one command, as Redis does nothing else meanwhile. */
const PORTION = 1_000;

/** How long a destination is left alone while another look at it may be under way, or its leases run, in ms. */
const LOOK_INTERVAL = 15_000;

/** Changes when somebody must look at destinations, or takes them off the list, where nobody has changed that since. */
const SETTLE = `
  for index = 2, #ARGV, 2 do
    local name, moment = ARGV[index], ARGV[index + 1]
    if tonumber(redis.call('ZSCORE', KEYS[1], name) or 0) == tonumber(ARGV[1]) then
      if moment == '' then redis.call('ZREM', KEYS[1], name) else redis.call('ZADD', KEYS[1], moment, name) end
    end
  end`;

/**
 * The destinations that have open deliveries, and when somebody must look at each of them: a sorted set. A destination
 * is on it at the latest once its delivery is accepted, and until somebody has found that it has no open one.
 */
export class DueList {
  private readonly key: string;

  /** @param client the connection for commands, while the queue is open */
  constructor(
    prefix: string,
    private readonly signals: RedisSignals,
    private readonly client: () => Client,
  ) {
    this.key = `${prefix}:due`;
  }

  /**
   * The destinations that somebody must look at by then: by now, unless another time is given.
   *
   * @param until in ms since the epoch
   */
  async names(until: number | '+inf' = Date.now()): Promise<string[]> {
    const names: string[] = [];
    for (let read = PORTION; read === PORTION;) {
      const some = await this.client().zrangebyscore(this.key, '-inf', until, 'LIMIT', names.length, PORTION);
      read = some.length;
      names.push(...some);
    }
    return [...new Set(names)];
  }

  /** Somebody must look at these destinations, of which there is one, now. */
  add(commands: ChainableCommander, destinations: string[]): ChainableCommander {
    const now = Date.now();
    return commands.zadd(this.key, 'LT', ...destinations.flatMap((name) => [now, name]));
  }

  /** The same, and all processes are told. */
  announce(commands: ChainableCommander, destinations: string[]): ChainableCommander {
    return this.add(commands, destinations).publish(...this.signals.dueMessage(destinations));
  }

  /** Somebody must look at a destination at that moment, in ms since the epoch, or before. */
  async plan(destination: string, moment: number): Promise<void> {
    await this.client().zadd(this.key, 'LT', moment, destination);
  }

  /** Puts a destination on the list that has open deliveries, where it is missing. */
  async restore(destination: string): Promise<void> {
    await this.client().zadd(this.key, 'NX', Date.now() + LOOK_INTERVAL, destination);
  }

  /**
   * Puts off the next look at these destinations; resolves with the moment, which nobody else sets. What falls due from
   * now on sets another one.
   */
  async putOff(destinations: string[]): Promise<number> {
    const moment = Date.now() + LOOK_INTERVAL * (1 + Math.random() / 10);
    await this.client().zadd(this.key, 'XX', ...destinations.flatMap((name) => [moment, name]));
    return moment;
  }

  /**
   * Sets when somebody must look at each of these, or takes it off the list where that is undefined, unless something
   * has changed since it was put off.
   */
  async settle(putOffTo: number, moments: [destination: string, moment: number | undefined][]): Promise<void> {
    const args = moments.flatMap(([name, moment]) => [name, moment ?? '']);
    await this.client().eval(SETTLE, 1, this.key, putOffTo, ...args);
  }
}

/**
 * Runs commands with one exchange; resolves with their results.
 * @throws {Error} the first that failed
 */
export async function run(commands: ChainableCommander): Promise<unknown[]> {
  const results = (await commands.exec()) ?? [];
  for (const [error] of results) if (error) throw error;
  return results.map(([, result]) => result);
}
