import { TransactionError } from '../../common/relay.errors.js';
import type { TransactionRunner } from '../../common/transaction-runner.interface.js';

type Method = (...args: unknown[]) => unknown;

/** A transaction of one of the packages below, of which each has a part of the members. */
type Transaction = Record<string, unknown> & {
  queryRunner?: Transaction | null;
  sequelize?: { query: Method };
  $queryRawUnsafe: Method;
  executeQuery: Method;
  execute: Method;
  query: Method;
  raw: Method;
  isCompleted: () => boolean;
  isInTransaction: () => boolean;
};

interface Shape {
  /** Whether a value is a transaction of the package, or what transactions begin with. */
  matches: (tx: Transaction) => boolean;
  /** What to pass instead; undefined if the value may be a transaction. */
  fault?: (tx: Transaction) => string | undefined;
  run: (tx: Transaction, sql: string, params: unknown[]) => unknown;
}

const has = (tx: Transaction, ...names: string[]) => names.every((name) => typeof tx[name] === 'function');
const queried = (tx: Transaction, sql: string, params: unknown[]) => tx.query(sql, params);
/** For packages whose placeholder is a question mark. */
const withMarks = (sql: string) => sql.replace(/\$\d+/g, '?');

const SHAPES: Shape[] = [
  {
    // TypeORM's EntityManager and DataSource
    matches: (tx) => has(tx, 'query') && (has(tx, 'getRepository') || has(tx, 'createQueryRunner')),
    fault: ({ queryRunner }) =>
      queryRunner?.isTransactionActive
        ? undefined
        : 'of TypeORM, pass the EntityManager that dataSource.transaction() gives, or a QueryRunner after startTransaction()',
    run: queried,
  },
  {
    // TypeORM's QueryRunner
    matches: (tx) => has(tx, 'query', 'startTransaction') && 'isTransactionActive' in tx,
    fault: ({ isTransactionActive }) =>
      isTransactionActive ? undefined : 'of TypeORM, pass a QueryRunner after startTransaction() and before its end',
    run: queried,
  },
  {
    // Prisma
    matches: (tx) => has(tx, '$queryRawUnsafe'),
    fault: (tx) =>
      has(tx, '$connect') ? 'of Prisma, pass the client that prisma.$transaction(async (tx) => ...) gives' : undefined,
    run: (tx, sql, params) => tx.$queryRawUnsafe(sql, ...params),
  },
  {
    // Knex
    matches: (tx) => has(tx, 'raw', 'transaction'),
    fault: (tx) =>
      tx.isTransaction && !tx.isCompleted()
        ? undefined
        : 'of Knex, pass the transaction that knex.transaction() gives, before its end',
    run: (tx, sql, params) => tx.raw(withMarks(sql), params),
  },
  {
    // Kysely
    matches: (tx) => has(tx, 'executeQuery', 'selectFrom'),
    fault: ({ isTransaction }) =>
      isTransaction ? undefined : 'of Kysely, pass the transaction that db.transaction().execute() gives',
    run: (tx, sql, parameters) => {
      const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
      return tx.executeQuery({ query, sql, parameters, queryId: { queryId: 'nestjs-analytics-relay' } });
    },
  },
  {
    // MikroORM
    matches: (tx) => has(tx, 'isInTransaction', 'execute'),
    fault: (tx) =>
      tx.isInTransaction()
        ? undefined
        : 'of MikroORM, pass the EntityManager that em.transactional() gives, or em after begin()',
    run: (tx, sql, params) => tx.execute(withMarks(sql), params),
  },
  {
    // Sequelize
    matches: (tx) => has(tx, 'authenticate') || typeof tx.sequelize === 'object',
    fault: (tx) =>
      tx.sequelize && tx.finished === undefined
        ? undefined
        : 'of Sequelize, pass the Transaction that sequelize.transaction() gives, before its end',
    run: (tx, sql, bind) => tx.sequelize!.query(sql, { bind, transaction: tx, type: 'SELECT' }),
  },
  {
    // Drizzle: its statements are built from objects with these two methods
    matches: (tx) => has(tx, 'execute', 'select', 'transaction'),
    fault: (tx) =>
      has(tx, 'rollback') ? undefined : 'of Drizzle, pass the transaction that db.transaction(async (tx) => ...) gives',
    run: (tx, sql, params) => tx.execute({ getSQL: () => ({ toQuery: () => ({ sql, params }) }) }),
  },
  {
    // pg, and what is used like it
    matches: (tx) => has(tx, 'query'),
    fault: (tx) =>
      'totalCount' in tx && 'idleCount' in tx
        ? 'of pg, pass the client of pool.connect() on which you have run BEGIN'
        : undefined,
    run: queried,
  },
];

/**
 * Returns what runs statements in a transaction: the value itself if it is a function of the option
 * `transactionRunner`, or else one for the package that its shape shows.
 *
 * @throws {TransactionError} if it is no transaction, which says what to pass
 */
export function toRunner(value: unknown): TransactionRunner {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  const tx = value as Transaction;
  const shape = isObject ? SHAPES.find(({ matches }) => matches(tx)) : undefined;
  if (!shape) {
    if (typeof value === 'function') return value as TransactionRunner;
    throw new TransactionError(
      'the transaction is of no package that is known: pass that of pg, TypeORM, Prisma, Drizzle, Knex, Kysely, MikroORM ' +
        'or Sequelize, or set transactionRunner in AnalyticsModule',
    );
  }
  const fault = shape.fault?.(tx);
  if (fault !== undefined) throw new TransactionError(`this is no open transaction: ${fault}`);
  return async (sql, params) => toRows(await shape.run(tx, sql, params));
}

/** Returns the rows of a result, which is a list of them, or has one. */
function toRows(result: unknown): unknown[] {
  return Array.isArray(result) ? result : ((result as { rows?: unknown[] } | undefined)?.rows ?? []);
}
