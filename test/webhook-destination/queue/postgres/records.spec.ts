import { Socket } from 'node:net';

import type { DeliveryOutcome, DeliveryQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { lockRows } from '../../../support/postgres-locks.js';
import { describeOnEach, postgresStore, queryPostgres } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

const HOUR = 3_600_000;

const dead = (): DeliveryOutcome => ({
  state: 'dead',
  attempt: { startedAt: Date.now(), results: [] },
  reason: 'refused',
  failedUrls: [],
});

await describeOnEach([postgresStore], (store) => {
  const afterwards = useCleanUps();

  const open = async (connection: object = {}) => {
    const { options, remove } = store.create();
    afterwards(remove);
    const queue = await openQueue(
      afterwards,
      sharedQueue({ ...options, connection: { connectionString: store.url, ...connection } }),
    );
    return { queue, schema: options.prefix! };
  };

  it('A sweep on PostgreSQL adds up all rows of counts, however many there are', async () => {
    const { queue, schema } = await open();
    await queryPostgres(
      `INSERT INTO ${schema}.relay_count SELECT 'd' || i % 3, 'delivered', 1, 100 FROM generate_series(1, 120000) i`,
    );
    await queue.sweep();
    expect(await queryPostgres(`SELECT * FROM ${schema}.relay_count ORDER BY destination`)).toEqual(
      ['d0', 'd1', 'd2'].map((destination) => ({ destination, state: 'delivered', count: '40000', bytes: '4000000' })),
    );
  });

  describe('A replay on PostgreSQL', () => {
    const COUNT = 2_500;

    /** Resolves once all deliveries are dead, the last of them at a time that is still to come by the queue's clock. */
    const setUp = async (queue: DeliveryQueue, schema: string) => {
      await queue.add(Array.from({ length: COUNT }, (_, index) => newDelivery(`m${index}`)));
      await queryPostgres(
        `UPDATE ${schema}.relay_delivery SET state = 'dead', lease = NULL, leased_at = NULL,
           ended_at = accepted_at + CASE WHEN message_id = 'm0' THEN 0 ELSE ${HOUR} END`,
      );
      await queryPostgres(`INSERT INTO ${schema}.relay_count VALUES ('Webhooks', 'dead', ${COUNT}, 0)`);
    };

    it('includes deliveries that died before the clock of the server was set back', async () => {
      const { queue, schema } = await open();
      await setUp(queue, schema);
      const [newest] = await queue.list({}, { limit: 1 });
      expect(await queue.replay({ id: newest!.id })).toBe(1);
      expect(await queue.replay({})).toBe(COUNT - 1);
      expect(await queue.counts()).toEqual([{ destination: 'Webhooks', state: 'queued', count: COUNT }]);
    });

    it('ends, and replays each once, though they die again at once', async () => {
      const { queue, schema } = await open();
      await setUp(queue, schema);
      let attempts = 0;
      queue.consume('Webhooks', 64).subscribe(({ settle }) => {
        attempts++;
        void settle(dead());
      });
      expect(await queue.replay({})).toBe(COUNT);
      await waitFor(async () => {
        const counts = await queue.counts();
        return counts.length === 1 && counts[0]!.state === 'dead';
      });
      expect(attempts).toBe(COUNT);
      expect(await queue.replay({})).toBe(COUNT);
    });
  });

  describe('A purge on PostgreSQL, of a delivery that another transaction has locked,', () => {
    const setUp = async () => {
      /** When a statement that deletes was sent. */
      const deletions: number[] = [];
      const stream = () => {
        const socket = new Socket();
        const write: Socket['write'] = socket.write.bind(socket);
        // `connect` sets the method of the class.
        socket.once('connect', () => {
          socket.write = (data: string | Uint8Array) => {
            if (data.toString().includes('DELETE FROM')) deletions.push(performance.now());
            return write(data);
          };
        });
        return socket;
      };
      const { queue, schema } = await open({ stream });
      await queue.add([newDelivery('m0')]);
      const lock = await lockRows(schema, 'relay_delivery');
      afterwards(() => lock.release());
      return { queue, lock, deletions };
    };

    it('tries again after a pause, and removes it once it can', async () => {
      const { queue, lock, deletions } = await setUp();
      const purged = queue.purge({});
      await waitFor(() => deletions.length >= 3);
      expect(deletions[2]! - deletions[0]!).toBeGreaterThan(390);
      await lock.release();
      expect(await purged).toBe(1);
    });

    it('ends with the queue', async () => {
      const { queue, deletions } = await setUp();
      const purged = expect(queue.purge({})).rejects.toMatchObject({ code: 'closed' });
      await waitFor(() => deletions.length >= 1);
      await queue.close();
      await purged;
    });
  });
});
