import { throwFaults } from '../../../common/options.error.js';
import { Known, Must, MustBeBoolean } from '../../../common/options.rules.js';
import { isNonEmptyString, isPositiveInteger } from '../../../common/value.util.js';
import { hasReadableUserInfo } from '../../url.util.js';
import { QueueOptions, type RetentionOptions, toQueueOptions } from '../retention.options.js';

/** Store that holds the queue. */
export type QueueBackend = 'redis' | 'postgres';

const PROTOCOLS: Record<QueueBackend, string[]> = {
  redis: ['redis:', 'rediss:'],
  postgres: ['postgres:', 'postgresql:'],
};

/** The options, checked and with their defaults. */
export class CheckedBullmqOptions extends QueueOptions {
  /**
   * Store of the queue: Redis 6.2 or later, with `bullmq` and `ioredis`, or PostgreSQL 13 or later, with `pg`.
   * @default 'redis'
   * @see docs/scaling.md, "Which store"
   */
  @Must("be 'redis' or 'postgres'", (value) => typeof value === 'string' && Object.hasOwn(PROTOCOLS, value))
  backend: QueueBackend = 'redis';

  /**
   * Connection to Redis or PostgreSQL: a URL (`redis://`, `rediss://`, `postgres://`), the options of `ioredis` or
   * `pg.Pool`, or the application's `ioredis` client, `ioredis` cluster or `pg.Pool`. The queue copies the settings of
   * a client, opens its own connections, and never closes the client.
   * @see docs/scaling.md, "Connections"
   */
  @Known() // its rule depends on the backend
  connection!: string | object;

  /**
   * Separates this queue from other data in the store: on Redis the first part of each key (BullMQ's `prefix`; a hash
   * tag such as `{relay}` on a cluster), without a colon; on PostgreSQL the schema, of at most 63 letters, digits and
   * underscores, not starting with a digit.
   * @default 'relay'
   */
  @Must('be a non-empty string without a colon', (value) => isNonEmptyString(value) && !value.includes(':'))
  prefix: string = 'relay';

  /**
   * Creates or updates the PostgreSQL tables at start. Any number of processes may do so at once. With `false`, for a role
   * that may not create tables, run `migrateBullmqQueue()` with one that may.
   * @default true
   */
  @MustBeBoolean()
  migrate: boolean = true;

  /**
   * Maximum wait for the store at start, in ms.
   * @default 10_000
   */
  @Must('be a whole number above 0', isPositiveInteger)
  connectTimeout: number = 10_000;
}

/** Options of {@link bullmqQueue}. */
export interface BullmqQueueOptions
  extends Pick<CheckedBullmqOptions, 'connection'>, Partial<Omit<CheckedBullmqOptions, 'connection' | 'retention'>> {
  /**
   * How long records of ended deliveries and message ids are kept. Only `age` applies to message ids, which are kept at
   * least as long as the record. Set the same value in all processes that share the queue. Default: the default of each
   * kind of record.
   */
  retention?: RetentionOptions;
}

/** The options of a queue of an application or of a tool. */
export interface SharedQueueOptions extends CheckedBullmqOptions {
  /** Whether a queue on Redis fails to open, and writes nothing, if there is none with its prefix. */
  mustExist?: boolean;
}

/**
 * Checks the options and fills in the defaults.
 * @throws {OptionsError} that names each option at fault and its rule, never its value: a URL may hold a password
 */
export function toBullmqOptions(given: BullmqQueueOptions): CheckedBullmqOptions {
  const options = toQueueOptions('bullmqQueue', CheckedBullmqOptions, given);
  const { backend, connection, prefix } = options;
  const protocols = PROTOCOLS[backend];
  const isConnection =
    typeof connection === 'string'
      ? URL.canParse(connection) && protocols.includes(new URL(connection).protocol)
      : typeof connection === 'object' && connection !== null;
  const faults: string[] = [];
  if (!isConnection) {
    const begins = protocols.map((protocol) => `${protocol}//`).join(' or ');
    faults.push(`connection must be a URL that begins with ${begins}, options, or a client`);
  } else if (typeof connection === 'string') {
    faults.push(...findUrlFaults(connection));
  }
  if (backend === 'postgres' && !/^[A-Za-z_]\w{0,62}$/.test(prefix)) {
    faults.push(
      'prefix must be a schema on PostgreSQL: at most 63 letters, digits and underscores, not starting with a digit',
    );
  }
  throwFaults('bullmqQueue', faults);
  return options;
}

/** Returns what the clients of the stores do not check in the URL of a connection. */
function findUrlFaults(connection: string): string[] {
  const { protocol, pathname } = new URL(connection);
  const faults: string[] = [];
  if (PROTOCOLS.redis.includes(protocol) && !/^\/?\d*$/.test(pathname)) {
    faults.push('connection must be a Redis URL without a path, or with the number of a database: redis://host:6379/1');
  }
  if (!hasReadableUserInfo(connection)) {
    faults.push('connection must be a URL whose user and password are percent-encoded: %25 for %');
  }
  return faults;
}
