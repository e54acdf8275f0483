import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { DeliveryQueue } from 'nestjs-analytics-relay';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { startRelayApp } from '../../../support/relay.app.js';
import { Relay } from '../../../support/relay.js';
import { describeOnEach, postgresStore, queryPostgres } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

const warned: string[] = [];
vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void warned.push(String(line)));
vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

await describeOnEach([postgresStore], (store) => {
  describe(`a backlog in ${store.name}`, () => {
    const afterwards = useCleanUps();
    const create = () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const schema = options.prefix!;
      const connection = `${store.url}?application_name=${schema}`;
      return { factory: sharedQueue({ ...options, connection }), schema };
    };
    const fill = async (queue: DeliveryQueue, destination: string, count: number) => {
      const [source, userId, body, acceptedAt] = ['shop', 'u1', Buffer.from('{}'), Date.now()];
      const of = (index: number) => ({ destination, source, messageId: `m${index}`, userId, body, acceptedAt });
      await queue.add(Array.from({ length: count }, (_, index) => of(index)));
    };
    /** Rows of deliveries that have been read since the last time this was asked, by connections that have ended. */
    const rowsRead = async (schema: string) => {
      const open = `SELECT FROM pg_stat_activity WHERE application_name = '${schema}'`;
      await waitFor(async () => (await queryPostgres(open)).length === 0);
      const [row] = (await queryPostgres(
        `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_user_tables
         WHERE schemaname = '${schema}' AND relname = 'relay_delivery'`,
      )) as [{ read: number }];
      return row.read;
    };

    it('of many destinations is read by no more than 4 MiB with one statement, and without a pause', async () => {
      const { factory, schema } = create();
      const queue = await openQueue(afterwards, factory);
      const names = Array.from({ length: 16 }, (_, index) => `Large ${index}`);
      const body = Buffer.alloc(64 * 1024, ' ');
      for (const destination of names) {
        const of = (index: number) => ({ ...newDelivery(`m${index}`), destination, body });
        await queue.add(Array.from({ length: 20 }, (_, index) => of(index)));
      }
      for (const name of names) queue.consume(name, 4).subscribe();
      const leased = `FROM ${schema}.relay_delivery WHERE state = 'delivering'`;
      await waitFor(async () => (await queryPostgres(`SELECT ${leased}`)).length === 16 * names.length);
      const claims = await queryPostgres(`SELECT sum(octet_length(body))::int AS bytes ${leased} GROUP BY xmin::text`);
      expect(claims.length).toBeGreaterThan(1);
      for (const { bytes } of claims as { bytes: number }[]) expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
    });

    it('is not read to lease a delivery, nor to look for leases that were lost', async () => {
      const { factory, schema } = create();
      const filling = factory();
      await filling.open();
      await fill(filling, 'Webhooks', 3_000);
      await filling.close();
      const before = await rowsRead(schema);
      const queue = factory();
      await queue.open();
      const lease = await firstValueFrom(queue.consume('Webhooks', 1));
      await lease.settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      await queue.close();
      expect((await rowsRead(schema)) - before).toBeLessThan(100);
    });

    it('is not read at start, but for destinations that are not enabled any more', async () => {
      const { factory, schema } = create();
      const queue = factory();
      await queue.open();
      await fill(queue, 'Gone', 3);
      await fill(queue, 'Busy', 3_000);
      await queue.close();
      const before = await rowsRead(schema);
      const relay = await Relay.start({
        destinations: [{ name: 'Busy', urls: ['http://127.0.0.1:9/'] }],
        delivery: { concurrency: 1 },
        queue: factory,
      });
      await relay.stop();
      expect(warned.filter((line) => line.includes('has queued deliveries'))).toEqual([
        expect.stringContaining(
          'Destination "Gone" is disabled or no longer declared, but has queued deliveries: 3. Declare and enable it',
        ),
      ]);
      expect((await rowsRead(schema)) - before).toBeLessThan(1_000);
    });

    it('is not read whole for the oldest delivery of each destination', async () => {
      const { factory, schema } = create();
      const filling = factory();
      await filling.open();
      await fill(filling, 'Few', 3);
      await fill(filling, 'Many', 5_000);
      await filling.close();
      const before = await rowsRead(schema);
      const queue = factory();
      await queue.open();
      const oldest = await queue.oldest();
      await queue.close();
      expect(oldest.map(({ destination }) => destination).sort()).toEqual(['Few', 'Many']);
      expect((await rowsRead(schema)) - before).toBeLessThan(2_000);
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
