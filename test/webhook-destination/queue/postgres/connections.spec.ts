import { Logger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { Relay } from '../../../support/relay.js';
import { describeOnEach, postgresStore, queryPostgres } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

const DESTINATIONS = Array.from({ length: 200 }, (_, index) => `tenant-${index}`);

/** Most connections of a process, however many destinations it has. */
const MAX_CONNECTIONS = 8;

await describeOnEach([postgresStore], (store) => {
  describe('A process with 200 destinations on PostgreSQL', () => {
    const afterwards = useCleanUps();
    afterEach(() => {
      vi.restoreAllMocks();
    });

    const create = () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const name = options.prefix!;
      const factory = sharedQueue({ ...options, connection: `${store.url}?application_name=${name}` });
      const connections = async () => {
        const rows = await queryPostgres(
          `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = '${name}'`,
        );
        return (rows as [{ count: number }])[0].count;
      };
      return { factory, connections, schema: name };
    };
    const open = async () => {
      const { factory, connections, schema } = create();
      const queue = await openQueue(afterwards, factory);
      return { queue, connections, schema };
    };

    it('delivers to all of them over eight connections at most', async () => {
      const { queue, connections } = await open();
      const taken = new Set<string>();
      for (const name of DESTINATIONS) {
        queue.consume(name, 64).subscribe(({ delivery, settle }) => {
          taken.add(`${delivery.destination} ${delivery.messageId}`);
          void settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
        });
      }
      let most = 0;
      for (let round = 0; round < 10; round++) {
        const adding = DESTINATIONS.map((destination) => queue.add([{ ...newDelivery(`m${round}`), destination }]));
        most = Math.max(most, await connections());
        await Promise.all(adding);
      }
      await waitFor(() => taken.size === 10 * DESTINATIONS.length);
      expect(most).toBeGreaterThan(1);
      expect(Math.max(most, await connections())).toBeLessThanOrEqual(MAX_CONNECTIONS);
    });

    it('finds what is due without a signal', async () => {
      const { queue, schema } = await open();
      const due = new Set<string>();
      const subscription = queue.due$.subscribe((name) => due.add(name));
      afterwards(() => subscription.unsubscribe());
      // As a process does that ends before it can signal.
      await queryPostgres(
        `INSERT INTO ${schema}.relay_delivery (accepted_at, due_at, state, destination, source, message_id, body)
         VALUES (1, 1, 'queued', 'tenant-7', 'shop', 'm1', '{}')`,
      );
      await waitFor(() => due.has('tenant-7'));
      expect([...due]).toEqual(['tenant-7']);
    });

    it('goes on after the connection that listens was ended', async () => {
      const { queue, schema } = await open();
      const due = new Set<string>();
      const subscription = queue.due$.subscribe((name) => due.add(name));
      afterwards(() => subscription.unsubscribe());
      const listening = `SELECT pid FROM pg_stat_activity WHERE application_name = '${schema}' AND query ILIKE 'LISTEN%'`;
      await waitFor(async () => (await queryPostgres(listening)).length === 1);
      await queryPostgres(`SELECT pg_terminate_backend(pid) FROM (${listening}) AS listener`);
      await queryPostgres(
        `INSERT INTO ${schema}.relay_delivery (accepted_at, due_at, state, destination, source, message_id, body)
         VALUES (1, 1, 'queued', 'tenant-7', 'shop', 'm1', '{}')`,
      );
      await waitFor(() => due.has('tenant-7'));
      await waitFor(async () => (await queryPostgres(listening)).length === 1);
    });

    it('consumes none of those that have nothing due', async () => {
      vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
      const { factory } = create();
      const queue = factory();
      await queue.open();
      await queue.add([{ ...newDelivery('m1'), destination: 'tenant-3' }]);
      await queue.close();
      const consumed: string[] = [];
      const relay = await Relay.start({
        destinations: DESTINATIONS.map((name) => ({ name, urls: ['http://127.0.0.1:9/'] })),
        queue: () => {
          const own = factory();
          const { consume } = own;
          return Object.assign(own, {
            consume: (name: string, concurrency: number) => {
              consumed.push(name);
              return consume(name, concurrency);
            },
          });
        },
      });
      afterwards(() => relay.stop());
      await waitFor(() => consumed.length > 0);
      expect(new Set(consumed)).toEqual(new Set(['tenant-3']));
    });
  });
});
