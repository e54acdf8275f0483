import type { ModuleRef } from '@nestjs/core';

import { OptionsError } from '../common/options.error.js';
import { PackageError } from '../common/relay.errors.js';

/** What is used of `TransactionHost`. */
interface TransactionHost {
  readonly tx: object;
  isTransactionActive(): boolean;
  withTransaction(...args: unknown[]): Promise<unknown>;
}

type Work = (...args: unknown[]) => unknown;

/** Lets events take part in the transactions of `@nestjs-cls/transactional`, which commit once the events are written. */
export class ClsTransactions {
  /** Events that are being written, by transaction. */
  private readonly writes = new WeakMap<object, Promise<void>[]>();

  /** @param onRolledBack receives each transaction that was rolled back */
  constructor(
    private readonly host: TransactionHost,
    private readonly onRolledBack?: (tx: object) => void,
  ) {
    const begin = host.withTransaction.bind(host);
    host.withTransaction = (...args) => {
      const outer = this.current;
      return begin(...args.map((arg) => (typeof arg === 'function' ? this.awaitWrites(arg as Work, outer) : arg)));
    };
  }

  /** @throws {PackageError | OptionsError} if the application does not use the package */
  static async find(moduleRef: ModuleRef, onRolledBack?: (tx: object) => void): Promise<ClsTransactions> {
    const { TransactionHost } = await load();
    try {
      return new ClsTransactions(moduleRef.get(TransactionHost, { strict: false }), onRolledBack);
    } catch {
      const rule = "transactions must not be 'cls' without a ClsPluginTransactional of the default connection";
      throw new OptionsError('AnalyticsModule', [rule]);
    }
  }

  /** The transaction of the running code; undefined outside one. */
  get current(): object | undefined {
    return this.host.isTransactionActive() ? this.host.tx : undefined;
  }

  /** Lets a transaction wait for an event that is being written. */
  add(tx: object, write: Promise<void>): void {
    write.catch(() => undefined); // the transaction rejects
    this.writesOf(tx).push(write);
  }

  /** Returns work that ends once the events that it records are written, and fails if one cannot be. */
  private awaitWrites(work: Work, outer: object | undefined): Work {
    const awaiting: Work = async (...args) => {
      const tx = this.current;
      const writes = tx ? this.writesOf(tx) : [];
      try {
        const result = await work(...args);
        for (let write = writes.shift(); write; write = writes.shift()) await write;
        return result;
      } catch (error) {
        await Promise.allSettled(writes.splice(0));
        if (tx && tx !== outer) this.onRolledBack?.(tx);
        throw error;
      }
    };
    return Object.defineProperty(awaiting, 'name', { value: work.name });
  }

  private writesOf(tx: object): Promise<void>[] {
    const writes = this.writes.get(tx) ?? [];
    this.writes.set(tx, writes);
    return writes;
  }
}

async function load(): Promise<{ TransactionHost: new (...args: never[]) => TransactionHost }> {
  try {
    return await import('@nestjs-cls/transactional');
  } catch (cause) {
    const advice =
      "transactions: 'cls' needs the package @nestjs-cls/transactional: npm install @nestjs-cls/transactional";
    throw new PackageError('package_missing', advice, { cause });
  }
}
