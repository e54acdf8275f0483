import { setImmediate as nextTurn } from 'node:timers/promises';

import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { LongStatements } from '../../../../lib/stores/postgres/long-statements.js';
import type { PostgresDatabase } from '../../../../lib/stores/postgres/postgres.database.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { lockTable } from '../../../support/postgres-locks.js';
import { describeOnEach, postgresStore } from '../../../support/services.js';
import { openQueue } from '../../../support/open-queue.js';

describe('Long statements', () => {
  afterEach(() => void vi.useRealTimers());

  /** Statements of a database that answers when it is told to. */
  const start = (maxConnections: number) => {
    const answers: (() => void)[] = [];
    const query = () => new Promise<void>((resolve) => answers.push(resolve));
    const database = { schema: 'relay', maxConnections, query } as unknown as PostgresDatabase;
    return { answers, statements: new LongStatements(database) };
  };

  it.each([
    [7, 2],
    [5, 2],
    [4, 1],
    [1, 1],
  ])('run, of %i connections, on %i at most', async (connections, limit) => {
    const { answers, statements } = start(connections);
    const done = Array.from({ length: 5 }, () => statements.query('SELECT'));
    for (const [index, one] of done.entries()) {
      await nextTurn();
      expect(answers).toHaveLength(Math.min(index + limit, done.length));
      answers[index]!();
      await one;
    }
  });

  it('fail if they have not begun after 10 s, and leave their place to the next', async () => {
    vi.useFakeTimers();
    const { answers, statements } = start(4);
    const first = statements.query('SELECT');
    const late = expect(statements.query('SELECT')).rejects.toMatchObject({ code: 'timeout' });
    await vi.advanceTimersByTimeAsync(5_000);
    const next = statements.query('SELECT');
    await vi.advanceTimersByTimeAsync(5_000);
    await late;
    answers[0]!();
    await first;
    await vi.advanceTimersByTimeAsync(0);
    answers[1]!();
    await next;
  });
});

await describeOnEach([postgresStore], (store) => {
  describe('Slow searches on PostgreSQL', () => {
    const afterwards = useCleanUps();

    it('leave connections to the renewal of leases and to other changes', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = await openQueue(afterwards, sharedQueue(options));
      await queue.add([newDelivery('m0')]);
      const lock = await lockTable(options.prefix!, 'relay_delivery');
      afterwards(() => lock.release());
      const searches = Array.from({ length: 20 }, () => queue.list({ userId: 'u1' }));
      await lock.blocks(2);
      await queue.check();
      expect(await queue.registry.write({ kind: 'source', name: 'shop', document: '{}' }, 0)).toBeGreaterThan(0);
      await lock.blocks(2);
      await lock.release();
      for (const found of await Promise.all(searches)) expect(found).toEqual([]);
    });
  });
});
