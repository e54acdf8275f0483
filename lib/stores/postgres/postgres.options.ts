import { Known, Must, MustBeBoolean } from '../../common/options.rules.js';
import { SharedQueueOptions, type SharedRetention, toSharedOptions } from '../shared/shared-queue.options.js';

/** Default of `retention.delivered.bytes`. */
const DELIVERED_BYTES = 5_000_000_000;

/** The options, checked and with their defaults. */
export class CheckedPostgresOptions extends SharedQueueOptions {
  /**
   * Connection to PostgreSQL 13 or later: a URL (`postgres://`), the options of `pg.Pool`, or the application's
   * `pg.Pool`. The queue copies the settings of a pool, opens its own connections, and never closes the pool.
   * @see docs/scaling.md, "Connections"
   */
  @Known() // its rule is in `toSharedOptions`
  connection!: string | object;

  /**
   * Schema of the queue's tables: at most 63 letters, digits and underscores, not starting with a digit.
   * @default 'relay'
   */
  @Must(
    'be a schema: at most 63 letters, digits and underscores, not starting with a digit',
    (value) => typeof value === 'string' && /^[A-Za-z_]\w{0,62}$/.test(value),
  )
  prefix: string = 'relay';

  /**
   * Creates or updates the tables at start. Any number of processes may do so at once. With `false`, for a role that may
   * not create tables, run `migratePostgresQueue()` with one that may.
   * @default true
   */
  @MustBeBoolean()
  migrate: boolean = true;
}

/** Options of {@link postgresQueue}. */
export interface PostgresQueueOptions
  extends
    Pick<CheckedPostgresOptions, 'connection'>,
    Partial<Omit<CheckedPostgresOptions, 'connection' | 'retention'>>,
    SharedRetention {}

/** @throws {OptionsError} that names each option at fault and its rule */
export function toPostgresOptions(given: PostgresQueueOptions): CheckedPostgresOptions {
  return toSharedOptions('postgresQueue', CheckedPostgresOptions, given, ['postgres:', 'postgresql:'], DELIVERED_BYTES);
}
