import { ClsPluginTransactional, type TransactionalAdapter } from '@nestjs-cls/transactional';
import { ClsModule } from 'nestjs-cls';
import pg from 'pg';

type Options = Record<string, never>;

/** Lets `@Transactional()` run transactions on clients of a pool; nested ones are savepoints. */
export function pgTransactions(pool: pg.Pool) {
  const adapter: TransactionalAdapter<pg.Pool, pg.Pool | pg.PoolClient, Options> = {
    connection: pool,
    optionsFactory: () => ({
      getFallbackInstance: () => pool,
      wrapWithTransaction: async (_options, work, setTx) => {
        const client = await pool.connect();
        try {
          setTx(client);
          return await within<unknown>(client, ['BEGIN', 'COMMIT', 'ROLLBACK'], work);
        } finally {
          client.release();
        }
      },
      wrapWithNestedTransaction: (_options, work, _setTx, client) =>
        within<unknown>(client as pg.PoolClient, ['SAVEPOINT s', 'RELEASE s', 'ROLLBACK TO s'], work),
    }),
  };
  return ClsModule.forRoot({ global: true, plugins: [new ClsPluginTransactional({ adapter })] });
}

async function within<T>(client: pg.PoolClient, [begin, end, undo]: [string, string, string], work: () => Promise<T>) {
  await client.query(begin);
  try {
    const result = await work();
    await client.query(end);
    return result;
  } catch (error) {
    await client.query(undo);
    throw error;
  }
}
