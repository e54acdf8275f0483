import { firstValueFrom, take, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { describeOnEach, postgresStore, queryPostgres } from '../../../support/services.js';
import { openQueue } from '../../../support/open-queue.js';

await describeOnEach([postgresStore], (store) => {
  describe('The tables of a queue on PostgreSQL', () => {
    const afterwards = useCleanUps();

    it('show the deliveries to plain SQL', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = await openQueue(afterwards, sharedQueue(options));
      await queue.add(['dead', 'waiting'].map(newDelivery));
      for (const state of ['dead', 'waiting'] as const) {
        const lease = await firstValueFrom(queue.consume('Webhooks', 1));
        await lease.settle({ state, reason: 'refused', nextAttemptAt: Date.now() + 60_000, failedUrls: [] });
      }
      await queue.add([newDelivery('queued')]);
      const rows = await queryPostgres(
        `SELECT destination, source, message_id, state, reason, convert_from(body, 'UTF8') AS body,
           to_timestamp(due_at / 1000.0) > now() AS is_waiting
         FROM ${options.prefix}.relay_delivery ORDER BY id`,
      );
      const { destination, source, body } = newDelivery('m');
      const row = { destination, source, body: body.toString(), reason: null, is_waiting: false };
      expect(rows).toEqual([
        { ...row, message_id: 'dead', state: 'dead', reason: 'refused' },
        { ...row, message_id: 'waiting', state: 'waiting', is_waiting: true },
        { ...row, message_id: 'queued', state: 'queued' },
      ]);
    });

    it('may be damaged by hand: the delivery of that row is made, and so are the others', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = await openQueue(afterwards, sharedQueue(options));
      await queue.add(['damaged', 'intact'].map(newDelivery));
      await queryPostgres(
        `UPDATE ${options.prefix}.relay_delivery SET attempts = '[{', failed_urls = '1', user_id = '\\x'
         WHERE message_id = 'damaged'`,
      );
      const leases = queue.consume('Webhooks', 2).pipe(take(2), toArray());
      const taken = (await firstValueFrom(leases)).map(({ delivery }) => delivery);
      expect(taken).toMatchObject([
        { messageId: 'damaged', attempts: [], failedUrls: [], userId: '\\x' },
        { messageId: 'intact' },
      ]);
    });

    it('take a large batch with several statements of one transaction', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = await openQueue(afterwards, sharedQueue(options));
      const body = Buffer.alloc(3 * 1024 * 1024, ' ');
      await queue.add([
        ...Array.from({ length: 1_500 }, (_, index) => newDelivery(`m${index}`)),
        ...['large-1', 'large-2'].map((messageId) => ({ ...newDelivery(messageId), body })),
      ]);
      const written = await queryPostgres(
        `SELECT count(DISTINCT xmin::text)::int AS transactions, count(DISTINCT cmin::text)::int AS statements,
           count(*)::int AS deliveries FROM ${options.prefix}.relay_delivery`,
      );
      expect(written).toEqual([{ transactions: 1, statements: 3, deliveries: 1_502 }]);
    });
  });
});
