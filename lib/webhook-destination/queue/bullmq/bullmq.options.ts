import { isNonEmptyString, isPositiveInteger } from '../../../common/value.util.js';
import { type Retention, type RetentionOptions, toRetention } from '../retention.options.js';

/** Where the queue lies. */
export type QueueBackend = 'redis' | 'postgres';

/** Options of {@link bullmqQueue}. */
export interface BullmqQueueOptions {
  /**
   * What holds the queue: Redis 6.2 and later, with `ioredis`, or PostgreSQL 13 and later, with `pg`.
   * @default 'redis'
   */
  backend?: QueueBackend;
  /**
   * How to reach it: a URL (`redis://`, `rediss://`, `postgres://`), the options of `ioredis` or of `pg.Pool`, or an
   * `ioredis` client, an `ioredis` cluster or a `pg.Pool` that the application has. Of the latter the settings are
   * taken: the queue opens connections of its own with them, and what was passed in is neither used nor closed.
   */
  connection: string | object;
  /**
   * Sets these queues apart from all else in the store: on Redis the first part of each key (BullMQ's `prefix`; a hash
   * tag such as `{relay}` on a cluster), on PostgreSQL the schema.
   * @default 'relay'
   */
  prefix?: string;
  /**
   * PostgreSQL: make the tables, or bring them up to date, at start. Any number of processes may do so at once.
   * @default false
   */
  migrate?: boolean;
  /**
   * How long a start waits for the store, in ms.
   * @default 10_000
   */
  connectTimeout?: number;
  /**
   * How long records of ended deliveries are kept, and the ids of messages: the latter by their age, whatever their
   * number, and at least as long as the record. For all processes that share the queue, the same.
   */
  retention?: RetentionOptions;
}

/** The options, checked and with their defaults. */
export interface CheckedBullmqOptions extends Required<Omit<BullmqQueueOptions, 'retention'>> {
  retention: Retention;
}

const PROTOCOLS: Record<QueueBackend, string[]> = {
  redis: ['redis:', 'rediss:'],
  postgres: ['postgres:', 'postgresql:'],
};

/**
 * The options with their defaults.
 * @throws {Error} that names the option at fault and its rule, never its value: a URL may hold a password
 */
export function toBullmqOptions(given: BullmqQueueOptions): CheckedBullmqOptions {
  const {
    backend = 'redis',
    connection,
    prefix = 'relay',
    migrate = false,
    connectTimeout = 10_000,
    retention,
  } = given ?? {};
  const must = (holds: boolean, rule: string) => {
    if (!holds) throw new Error(`bullmqQueue: ${rule}`);
  };
  must(backend in PROTOCOLS, "backend must be 'redis' or 'postgres'");
  const protocols = PROTOCOLS[backend];
  must(
    typeof connection === 'string'
      ? URL.canParse(connection) && protocols.includes(new URL(connection).protocol)
      : typeof connection === 'object' && connection !== null,
    `connection must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}, options, or a client`,
  );
  must(isNonEmptyString(prefix) && !prefix.includes(':'), 'prefix must be a non-empty string without a colon');
  must(
    backend === 'redis' || /^[A-Za-z_]\w{0,62}$/.test(prefix),
    'prefix is the schema on PostgreSQL, so it must hold letters, digits and underscores only, 63 at most',
  );
  must(typeof migrate === 'boolean', 'migrate must be a boolean');
  must(isPositiveInteger(connectTimeout), 'connectTimeout must be a whole number above 0');
  return { backend, connection, prefix, migrate, connectTimeout, retention: toRetention('bullmqQueue', retention) };
}
