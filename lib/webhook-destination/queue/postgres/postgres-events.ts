/** Deliveries that a process adds to a queue between two looks at its events. */
const TRIM_EVERY = 5_000;

/** As many events as BullMQ keeps of a queue, if it is not told otherwise. */
const DEFAULT_LENGTH = 10_000;

/** BullMQ's own lock: a process holds it while it removes events of a queue, and no other waits for it. */
const TRIM = `
  DELETE FROM event
  WHERE queue = $1
    AND id <= (SELECT max(id) FROM event WHERE queue = $1) - $2::bigint
    AND (SELECT pg_try_advisory_xact_lock(hashtext('bullmq:evtrim:' || $1)))`;

/** What is removed is in the way until then: without this, each removal by BullMQ reads all that were removed before. */
const VACUUM = 'VACUUM (ANALYZE, SKIP_LOCKED, TRUNCATE false) event';

const LENGTH = `SELECT value::bigint AS length FROM meta WHERE queue = $1 AND field = 'opts.maxLenEvents'`;

type Query = <Row>(text: string, values: unknown[]) => Promise<Row[]>;

/**
 * Removes old events as deliveries are added. BullMQ writes two for each job, and removes none of them then: a backlog's
 * all go within the transaction of one of the first outcomes, a million for 500,000 deliveries.
 */
export class PostgresEvents {
  private readonly added = new Map<string, number>();
  private readonly trimming = new Set<string>();

  constructor(private readonly query: Query) {}

  /** Notes deliveries that were added; does not wait for what follows from it. */
  note(queueName: string, count: number): void {
    const added = (this.added.get(queueName) ?? 0) + count;
    const isDue = added >= TRIM_EVERY && !this.trimming.has(queueName);
    this.added.set(queueName, isDue ? 0 : added);
    if (!isDue) return;
    this.trimming.add(queueName);
    this.trim(queueName)
      .catch(() => undefined) // the next time does it as well
      .finally(() => this.trimming.delete(queueName));
  }

  private async trim(queueName: string): Promise<void> {
    const [setting] = await this.query<{ length: string }>(LENGTH, [queueName]);
    const length = Number(setting?.length ?? DEFAULT_LENGTH);
    if (length === 0) return;
    await this.query(TRIM, [queueName, length]);
    await this.query(VACUUM, []);
  }
}
