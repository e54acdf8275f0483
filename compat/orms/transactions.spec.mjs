import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../test/support/clean-ups.js';
import { describeOnEach, POSTGRES_URL, postgresStore, queryPostgres } from '../../test/support/services.js';
import { startTransactional } from '../../test/support/transactions.js';
import { PACKAGES } from './packages.mjs';

const ordered = (messageId) => ({
  userId: 'u1',
  event: 'Ordered',
  messageId,
  properties: { text: `it's $1 ? "é" \\ ` },
});

await describeOnEach([postgresStore], () => {
  describe.each(Object.entries(PACKAGES))('A transaction of %s', (_name, open) => {
    const afterwards = useCleanUps();

    async function start() {
      const application = await startTransactional(afterwards);
      const orm = await open(POSTGRES_URL);
      afterwards(() => orm.close());
      const record = (tx, messageId) => application.analytics.inTransaction(tx).track(ordered(messageId));
      return { ...application, orm, record };
    }

    it('delivers the event if it commits, with the same body as outside', async () => {
      const { receiver, orm, record, analytics } = await start();
      await orm.transact((tx) => record(tx, 'm1'));
      await receiver.received(1);
      analytics.track(ordered('m2'));
      await receiver.received(2);
      const [inside, outside] = receiver.webhooks.map(({ body }) => ({ ...body, timestamp: 'of the call' }));
      expect(inside).toEqual(outside);
    });

    it('drops the event if it is rolled back', async () => {
      const { orm, record, rows } = await start();
      const failure = new Error('no stock');
      const work = async (tx) => {
        await record(tx, 'm1');
        throw failure;
      };
      await expect(orm.transact(work)).rejects.toBe(failure);
      await orm.transact((tx) => record(tx, 'm2'));
      expect(await rows()).toEqual([{ id: 'm2' }]);
    });

    it('is refused after its end, with nothing written', async () => {
      const { orm, record, rows } = await start();
      let ended;
      await orm.transact(async (tx) => void (ended = tx));
      await expect(record(ended, 'm1')).rejects.toMatchObject({
        name: 'TransactionError',
        code: 'transaction_invalid',
      });
      expect(await rows()).toEqual([]);
    });

    it('is told from what it begins with', async () => {
      const { orm, analytics } = await start();
      for (const value of Object.values(orm.none)) {
        const refused = analytics.inTransaction(value).track(ordered('m1'));
        await expect(refused).rejects.toThrow(/this is no open transaction: of \w+, pass /);
      }
    });

    it('says that an error has aborted it', async () => {
      const { orm, record, schema } = await start();
      await queryPostgres(`ALTER TABLE ${schema}.relay_delivery ADD CHECK (message_id <> 'm1')`);
      let error;
      const failed = orm.transact(async (tx) => {
        await record(tx, 'm1').catch((reason) => (error = reason));
        throw error;
      });
      await expect(failed).rejects.toMatchObject({ code: 'queue_unavailable' });
      expect(error.message).toMatch(/check constraint.*\(23514\)\. The transaction is aborted: roll it back$/);
      expect(error.message).not.toMatch(/u1|INSERT/);
    });

    it('keeps the code of a serialisation failure, and succeeds when it is repeated', async () => {
      const { orm, record, rows, relay } = await start();
      const attempt = (isFirst) =>
        orm.transact(async (tx) => {
          await orm.run(tx, 'SELECT 1');
          if (isFirst) await relay.track('m1');
          await record(tx, 'm1');
          await record(tx, 'm2');
        }, 'SERIALIZABLE');
      await expect(attempt(true)).rejects.toMatchObject({ name: 'TransactionError', code: '40001' });
      await attempt(false);
      expect(await rows()).toEqual([{ id: 'm1' }, { id: 'm2' }]);
    });
  });
});
