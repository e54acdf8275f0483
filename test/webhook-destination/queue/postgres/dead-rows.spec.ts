import pg from 'pg';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { openQueue } from '../../../support/open-queue.js';
import { describeOnEach, POSTGRES_URL, postgresStore, queryPostgres } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

/** Rows that were claimed and are not vacuumed. A scan of fewer can be so quick that it is repeated. */
const DEAD = 400_000;

const DELIVERIES = 40;

await describeOnEach([postgresStore], (store) => {
  describe('A queue on PostgreSQL beside a long transaction', () => {
    const afterwards = useCleanUps();

    it('does not scan all dead rows with each claim', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const adding = await openQueue(afterwards, sharedQueue(options));
      const queue = await openQueue(afterwards, sharedQueue(options));
      const transaction = new pg.Client(POSTGRES_URL);
      await transaction.connect();
      afterwards(() => transaction.end());
      await transaction.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current()');
      await queryPostgres(
        `INSERT INTO ${options.prefix}.relay_delivery (accepted_at, due_at, state, destination, source, message_id, body)
         SELECT n, n, 'queued', 'Webhooks', 'shop', n, '' FROM generate_series(1, ${DEAD}) n;
         UPDATE ${options.prefix}.relay_delivery SET state = 'delivered', ended_at = 1`,
      );
      const read = async () => {
        const [row] = (await queryPostgres(
          `SELECT idx_tup_read::float8 AS count FROM pg_stat_user_indexes
           WHERE schemaname = '${options.prefix}' AND indexrelname = 'relay_delivery_open'`,
        )) as [{ count: number }];
        return row.count;
      };

      let taken = 0;
      queue.consume('Webhooks', 4).subscribe(({ settle }) => {
        taken++;
        void settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      });
      await waitFor(async () => (await read()) >= DEAD);
      const start = await read();
      for (let index = 0; index < DELIVERIES; index++) {
        await adding.add([newDelivery(`m${index}`)]);
        await waitFor(() => taken > index);
      }
      await queue.idle();
      await queue.close(); // a connection that ends reports its figures
      expect((await read()) - start).toBeLessThan((DEAD * DELIVERIES) / 4);
    });
  });
});
