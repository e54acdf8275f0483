import { errorMessage } from '../../client/error.util.js';
import { QueueUnavailableError, TransactionError } from '../../common/relay.errors.js';
import { parseJson } from '../../common/value.util.js';
import type { TransactionRunner } from '../../common/transaction-runner.interface.js';
import type { NewDelivery } from '../../webhook-destination/queue/delivery.interface.js';
import type { SearchedFields } from '../../webhook-destination/queue/searched-fields.js';
import type { RetentionBound } from '../../webhook-destination/queue/retention.options.js';
import type {
  TransactionStore,
  WrittenDeliveries,
} from '../../webhook-destination/queue/store/delivery-store.interface.js';
import type { CommitWatch } from './commit.watch.js';
import { encodeKeys, encodeText, toKey } from './delivery.codec.js';
import type { PostgresSignals } from './postgres-signals.js';
import { NO_TRANSACTION, OTHER_QUEUE, type RecordingCall, recordStatement } from './recording-view.js';
import { toRunner } from './transaction-runner.js';

const ABORTED = 'The transaction is aborted: roll it back';

/** Faults of a transaction, by the SQLSTATE of the error. */
const FAULTS: Partial<Record<string, string>> = {
  [NO_TRANSACTION]: 'the statement of the relay did not run in a transaction, and has written nothing: begin one first',
  [OTHER_QUEUE]: `the transaction is of another database than the queue. ${ABORTED}`,
  '3F000': `the database of the transaction does not have the schema of the queue. ${ABORTED}`,
  '42P01': `the database of the transaction does not have the schema of the queue. ${ABORTED}`,
  '42501': `its role needs USAGE on the schema of the queue and INSERT on its view relay_record. ${ABORTED}`,
  '25006': `the transaction is read-only. ${ABORTED}`,
  '25P02': `an earlier statement has failed. ${ABORTED}`,
};

const SQLSTATE = /^(?!P2)[0-9A-Z]{5}$/; // P2... are codes of Prisma

/** Stores deliveries in transactions of the application, and announces them once it has committed. */
export class TransactionAdditions implements TransactionStore {
  private readonly statement: string;

  /**
   * @param schema quoted
   * @param signals know the id of the queue, by which another database is recognised
   * @param searched the fields by whose values deliveries are searched
   * @param onCommitted receives deliveries that are due
   */
  constructor(
    schema: string,
    private readonly messageIds: Required<RetentionBound>,
    private readonly signals: PostgresSignals,
    private readonly watch: CommitWatch,
    private readonly now: () => number,
    private readonly searched: () => SearchedFields,
    private readonly onCommitted: (deliveries: NewDelivery[]) => void,
  ) {
    this.statement = recordStatement(schema);
  }

  join(transaction: unknown): (deliveries: NewDelivery[]) => Promise<WrittenDeliveries> {
    const run = toRunner(transaction);
    return async (deliveries) => {
      const { xid, repeated } = await this.write(run, deliveries);
      const ended = this.watch.ended(xid);
      void ended.then((isCommitted) => isCommitted && this.onCommitted(deliveries));
      return { ended, repeated: repeated.map((place) => deliveries[place]!) };
    };
  }

  /** Resolves with the id of the transaction, and the positions of deliveries whose message is remembered. */
  private async write(run: TransactionRunner, deliveries: NewDelivery[]): Promise<{ xid: string; repeated: number[] }> {
    let rows: unknown[];
    try {
      rows = await run(this.statement, [JSON.stringify(this.toCall(deliveries))]);
    } catch (error) {
      throw toTransactionError(error);
    }
    const { xid, repeated } = (rows?.[0] ?? {}) as { xid?: unknown; repeated?: unknown };
    const places = typeof repeated === 'string' ? parseJson(repeated) : undefined;
    if (/^\d+$/.test(String(xid)) && Array.isArray(places)) return { xid: String(xid), repeated: places as number[] };
    throw new TransactionError('what runs its statements did not return their rows: correct transactionRunner');
  }

  private toCall(deliveries: NewDelivery[]): RecordingCall {
    const { age, count } = this.messageIds;
    const remembers = age > 0 && count > 0;
    const now = this.now();
    return {
      relay: this.signals.relayId(),
      accepted_at: deliveries[0]!.acceptedAt,
      until_ms: Math.min(now + age, Number.MAX_SAFE_INTEGER),
      deliveries: deliveries.map((delivery) => ({
        key: remembers ? toKey(delivery) : undefined,
        destination: encodeText(delivery.destination),
        source: encodeText(delivery.source),
        message_id: encodeText(delivery.messageId),
        user_id: delivery.userId === undefined ? undefined : encodeText(delivery.userId),
        trace: delivery.trace,
        recorded_by: delivery.recordedBy === undefined ? undefined : encodeText(delivery.recordedBy),
        search_keys: encodeKeys(this.searched().keysOf(delivery.body)) ?? undefined,
        release: delivery.release === undefined ? undefined : encodeText(delivery.release),
        body: delivery.body.toString('base64'),
      })),
    };
  }
}

/**
 * Returns what an error of the statement means. It has no cause: errors of some packages have the parameters, and so
 * bodies.
 */
function toTransactionError(thrown: unknown): Error {
  const { code, message } = findDatabaseError(thrown);
  const fault = FAULTS[code];
  if (fault !== undefined) return new TransactionError(fault);
  if (code.startsWith('40')) return new TransactionError(`PostgreSQL: ${message}. ${ABORTED}, and repeat it`, code);
  if (SQLSTATE.test(code)) return new QueueUnavailableError(`PostgreSQL: ${message} (${code}). ${ABORTED}`);
  return new TransactionError(`it cannot run the statement of the relay: ${message}`);
}

/** Returns the error of the database, or else the innermost one: packages wrap it. */
function findDatabaseError(error: unknown): { code: string; message: string } {
  const fields = (error ?? {}) as Record<string, unknown>; // of each package some
  const { code, originalCode, originalMessage, cause, driverError, original, driverAdapterError, meta } = fields;
  const inner = cause ?? driverError ?? original ?? driverAdapterError ?? meta;
  if (typeof inner === 'object' && inner !== null) return findDatabaseError(inner);
  const text = [originalMessage, fields.message].find((found) => typeof found === 'string') ?? errorMessage(error);
  // Knex and MikroORM put the statement before the message; details in the lines after it have values of the row.
  const [message = ''] = text
    .replace(/^[^]* AS repeated - /, '')
    .trim()
    .split('\n');
  return { code: String(originalCode ?? code), message };
}
