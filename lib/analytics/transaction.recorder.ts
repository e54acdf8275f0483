import { AsyncLocalStorage } from 'node:async_hooks';

import type { ModuleRef } from '@nestjs/core';

import type { Callback } from '../client/index.js';
import { isCancelled } from '../client/event/context.js';
import type { EventTransaction } from '../client/event/pending-event.interface.js';
import type { SerializedMessage } from '../client/message/serialized-message.js';
import type { Concealed } from '../common/concealed.value.js';
import { deferred } from '../common/promise.util.js';
import { TransactionError } from '../common/relay.errors.js';
import type { InProcessIngest } from '../webhook-destination/ingest/in-process-ingest.interface.js';
import type { CheckedAnalyticsOptions } from './analytics.options.js';
import { ClsTransactions } from './cls-transactions.js';
import { PlanEnforcer } from './tracking-plan/plan.enforcer.js';

export const TRANSACTIONAL_RELAY =
  'WebhookDestinationModule with postgresQueue() and a source of this writeKey in the same application, and no host';

/** Records events in transactions of the application: a given one, or that of the async context. */
export class TransactionRecorder {
  private cls: ClsTransactions | undefined;
  /** Set while events of a transaction are recorded; null while those outside any are. */
  private transaction: EventTransaction | null | undefined;

  constructor(
    private readonly options: Concealed<CheckedAnalyticsOptions>,
    private readonly ingest: () => InProcessIngest | undefined,
  ) {}

  /** The transaction of the event that is being recorded. */
  get current(): EventTransaction | undefined {
    return this.transaction ?? undefined;
  }

  /** The transaction of the async context, which an event joins of which nothing else is said. */
  get ofContext(): object | undefined {
    return this.transaction === undefined ? this.cls?.current : undefined;
  }

  /**
   * Lets events take part in the transactions of `@nestjs-cls/transactional`.
   *
   * @param onRolledBack receives each transaction that was rolled back
   */
  async joinContext(moduleRef: ModuleRef, onRolledBack?: (tx: object) => void): Promise<void> {
    this.cls = await ClsTransactions.find(moduleRef, onRolledBack);
  }

  /** Returns what runs code that records one event in a transaction; it is fulfilled once the event is written. */
  in(tx: unknown): (record: (callback: Callback) => void) => Promise<void> {
    const transaction = this.toTransaction(tx);
    return (record) => {
      const written = deferred<void>();
      this.with(transaction, () =>
        record((reason, ctx) => {
          if (reason === undefined || isCancelled(ctx, reason)) written.resolve();
          else written.reject(reason as Error);
        }),
      );
      return written.promise;
    };
  }

  /** Runs code that records events outside the transaction of its async context. */
  outside(record: () => void): void {
    this.with(null, record);
  }

  /** Records an event in {@link ofContext}, which then waits for it, but not for one that is only logged or dropped. */
  recordInContext(tx: object, record: (callback: Callback) => void, callback: Callback | undefined): void {
    const write = this.in(tx)((settle) => {
      // Of a message that is only logged, there is no context.
      const end: Callback = (reason, ctx) => settle(ctx && !PlanEnforcer.isViolation(reason) ? reason : undefined, ctx);
      record(callback ? both(end, callback) : end);
    });
    this.cls!.add(tx, write);
  }

  private with(transaction: EventTransaction | null, record: () => void): void {
    const outer = this.transaction;
    this.transaction = transaction;
    try {
      record();
    } finally {
      this.transaction = outer;
    }
  }

  private toTransaction(tx: unknown): EventTransaction {
    if (tx === undefined || tx === null) throw new TransactionError('inTransaction() needs the transaction');
    const { transactionRunner, disable, writeKey, release } = this.options.reveal();
    const transaction: unknown = transactionRunner ? transactionRunner(tx) : tx;
    const inContext = AsyncLocalStorage.snapshot(); // the application's: its packages may keep the transaction there
    const write = (message: SerializedMessage) => {
      const ingest = this.ingest();
      if (!ingest) throw new TransactionError(`a transaction needs ${TRANSACTIONAL_RELAY}`);
      return ingest.acceptRecorded(writeKey, [message], release, transaction);
    };
    return { tx, write: async (message) => (disable ? undefined : inContext(() => write(message))) };
  }
}

function both(first: Callback, second: Callback): Callback {
  return (...outcome) => {
    first(...outcome);
    return second(...outcome);
  };
}
