import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { DeliveryQueue } from 'nestjs-analytics-relay';
import { bullmqQueue } from 'nestjs-analytics-relay/bullmq';
import pg from 'pg';

import { useCleanUps } from '../../../support/clean-ups.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { describeOnEach, POSTGRES_URL, postgresStore, queryPostgres } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

const warned: string[] = [];
jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void warned.push(String(line)));
jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

await describeOnEach([postgresStore], (store) => {
  describe(`a backlog in ${store.name}`, () => {
    const afterwards = useCleanUps();
    const create = () => {
      const { options, remove } = store.create();
      afterwards(remove);
      return { factory: bullmqQueue(options), schema: options.prefix! };
    };
    const createOpen = async () => {
      const { factory, schema } = create();
      const queue = factory();
      await queue.open();
      afterwards(() => queue.close());
      return { queue, schema };
    };
    const fill = async (queue: DeliveryQueue, destination: string, count: number) => {
      const [source, userId, body, acceptedAt] = ['shop', 'u1', Buffer.from('{}'), Date.now()];
      const of = (index: number) => ({ destination, source, messageId: `m${index}`, userId, body, acceptedAt });
      await queue.add(Array.from({ length: count }, (_, index) => of(index)));
    };
    /** More deliveries than may go by until events are removed, of which only so many are to be kept. */
    const fillKeeping = async (queue: DeliveryQueue, schema: string, events: number) => {
      await fill(queue, 'Webhooks', 1);
      await queryPostgres(`INSERT INTO ${schema}.meta VALUES ('Webhooks', 'opts.maxLenEvents', '${events}')`);
      await fill(queue, 'Webhooks', 5_000);
    };

    it('keeps as many events as BullMQ is told to, before the first delivery is settled', async () => {
      const { queue, schema } = await createOpen();
      await fillKeeping(queue, schema, 1_000);
      const events = async () =>
        (await queryPostgres(`SELECT count(*)::int AS count FROM ${schema}.event`)) as [{ count: number }];
      await waitFor(async () => (await events())[0].count === 1_000);
    });

    it('leaves no removed events behind for each later removal to read', async () => {
      const { queue, schema } = await createOpen();
      await fillKeeping(queue, schema, 1_000);
      const vacuums = async () =>
        (await queryPostgres(
          `SELECT FROM pg_stat_user_tables WHERE schemaname = '${schema}' AND relname = 'event' AND vacuum_count > 0`,
        )) as object[];
      await waitFor(async () => (await vacuums()).length === 1);
    });

    it('is not read to lease a delivery, nor to look for leases that were lost', async () => {
      const { queue, schema } = await createOpen();
      await fill(queue, 'Webhooks', 3_000);
      const client = new pg.Client(POSTGRES_URL);
      await client.connect();
      afterwards(() => client.end());
      await client.query(`BEGIN; SET LOCAL search_path TO ${schema}`);
      await client.query(`SELECT move_to_active('Webhooks', 'token', 15000, 1, 'token', NULL, NULL)`);
      await client.query(`SELECT move_stalled_jobs_to_wait('Webhooks', 1, 2, 1)`);
      const { rows } = await client.query<{ read: number }>(
        `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables
         WHERE schemaname = $1 AND relname = 'job'`,
        [schema],
      );
      expect(rows[0]!.read).toBeLessThan(30);
    });

    it('is not counted at start, but for destinations that are not enabled any more', async () => {
      const { factory, schema } = create();
      const queue = factory();
      await queue.open();
      await fill(queue, 'Gone', 3);
      await queue.close();
      await startRelayApp(afterwards, new ExpressAdapter(), { options: { queue: factory } });
      expect(warned).toEqual([expect.stringContaining('3 deliveries wait for destination "Gone"')]);
      await queryPostgres(`DELETE FROM ${schema}.relay_destination WHERE name = 'Gone'`);
      const client = new pg.Client(POSTGRES_URL);
      await client.connect();
      afterwards(() => client.end());
      // Whoever counts waits for this, until the query has taken too long.
      await client.query(`BEGIN; LOCK TABLE ${schema}.job IN ACCESS EXCLUSIVE MODE`);
      await startRelayApp(afterwards, new ExpressAdapter(), { options: { queue: factory } });
      await client.query('COMMIT');
    });

    it('that cannot be counted at start does not stop it', async () => {
      const { factory } = create();
      const queue = factory();
      queue.counts = () => Promise.reject(new Error('took too long'));
      await startRelayApp(afterwards, new ExpressAdapter(), { options: { queue: () => queue } });
      expect(warned).toContainEqual(expect.stringMatching(/cannot be counted: .*took too long/));
    });
  });
});
