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

/** Propagation of a method that is a savepoint, which may have the transaction object of its caller. */
const NESTED = 'NESTED';

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
      const isNested = args[0] === NESTED;
      const awaitWrites = (arg: unknown) =>
        typeof arg === 'function' ? this.awaitWrites(arg as Work, outer, isNested) : arg;
      const run = () => begin(...args.map(awaitWrites));
      // What was recorded before a savepoint must not be rolled back with it.
      return outer && isNested ? Promise.allSettled(this.writesOf(outer)).then(run) : run();
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

  /** Returns work that ends once the events of its transaction are written, and fails if one cannot be. */
  private awaitWrites(work: Work, outer: object | undefined, isNested: boolean): Work {
    const awaiting: Work = async (...args) => {
      const tx = this.current;
      if (!tx || (tx === outer && !isNested)) return work(...args); // the caller waits, who may go on if this fails
      const writes = this.writesOf(tx);
      const begun = writes.length;
      const next = () => writes.splice(begun, 1)[0];
      try {
        const result = await work(...args);
        for (let write = next(); write; write = next()) await write;
        return result;
      } catch (error) {
        await Promise.allSettled(writes.splice(begun));
        if (tx !== outer) this.onRolledBack?.(tx);
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
