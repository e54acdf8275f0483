type Method = (...args: unknown[]) => unknown;

/** What shows the end of a transaction, in one of the packages that show it. */
interface Transaction {
  /** TypeORM's EntityManager */
  queryRunner?: object;
  /** Knex */
  executionPromise?: Promise<unknown>;
  /** Drizzle */
  session?: { client?: object };
}

/** Methods that end a transaction, with whether they commit it: of TypeORM, Sequelize and MikroORM. */
const ENDS = { commit: true, commitTransaction: true, rollback: false, rollbackTransaction: false };

/** Calls `onEnd` at the end of a transaction, with whether it was committed, if its object shows that. */
export function followTransaction(tx: Transaction, onEnd: (isCommitted: boolean) => void): void {
  if (tx.executionPromise) {
    tx.executionPromise.then(
      () => onEnd(true),
      () => onEnd(false),
    );
    return;
  }
  const target = (tx.queryRunner ?? tx.session?.client ?? tx) as Record<string, unknown>;
  for (const [name, isCommitted] of Object.entries(ENDS)) {
    follow(target, name, () => onEnd(isCommitted));
  }
  // pg; a rollback to a savepoint is no end
  follow(target, 'query', ([query]) => {
    const text = typeof query === 'string' ? query : (query as { text?: unknown } | undefined)?.text;
    const [, end] = /^\s*(commit|rollback(?!\s+to\b))/i.exec(String(text)) ?? [];
    if (end) onEnd(end.toLowerCase() === 'commit');
  });
}

function follow(target: Record<string, unknown>, name: string, onCall: (args: unknown[]) => void): void {
  const method = target[name];
  if (typeof method !== 'function') return;
  Reflect.set(target, name, (...args: unknown[]) => {
    onCall(args);
    return (method as Method).apply(target, args);
  });
}
