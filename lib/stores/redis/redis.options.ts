import { Known, Must } from '../../common/options.rules.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { SharedQueueOptions, type SharedRetention, toSharedOptions } from '../shared/shared-queue.options.js';

/** Default of `retention.delivered.bytes`: they are in memory. */
const DELIVERED_BYTES = 250_000_000;

/** The options, checked and with their defaults. */
export class CheckedBullmqOptions extends SharedQueueOptions {
  /**
   * Connection to Redis 6.2 or later: a URL (`redis://`, `rediss://`), the options of `ioredis`, or the application's
   * `ioredis` client or cluster. The queue copies the settings of a client, opens its own connections, and never closes
   * the client.
   * @see docs/scaling.md, "Connections"
   */
  @Known() // its rule is in `toSharedOptions`
  connection!: string | object;

  /**
   * Separates this queue from other data in Redis: the first part of each key (BullMQ's `prefix`), without a colon; on a
   * cluster a hash tag such as `{relay}`.
   * @default 'relay'
   */
  @Must('be a non-empty string without a colon', (value) => isNonEmptyString(value) && !value.includes(':'))
  prefix: string = 'relay';
}

/** Options of {@link bullmqQueue}. */
export interface BullmqQueueOptions
  extends
    Pick<CheckedBullmqOptions, 'connection'>,
    Partial<Omit<CheckedBullmqOptions, 'connection' | 'retention'>>,
    SharedRetention {}

/** The options of a queue of an application or of a tool. */
export interface RedisQueueOptions extends CheckedBullmqOptions {
  /** Whether the queue fails to open, and writes nothing, if there is none with its prefix. */
  mustExist?: boolean;
}

/** @throws {OptionsError} that names each option at fault and its rule */
export function toBullmqOptions(given: BullmqQueueOptions): CheckedBullmqOptions {
  return toSharedOptions('bullmqQueue', CheckedBullmqOptions, given, ['redis:', 'rediss:'], DELIVERED_BYTES);
}
