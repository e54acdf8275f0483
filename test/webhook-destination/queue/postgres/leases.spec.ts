import { Logger } from '@nestjs/common';
import type { DeliveryOutcome, Lease } from 'nestjs-analytics-relay';
import pg from 'pg';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { Forwarder } from '../../../support/forwarder.js';
import { lockTable } from '../../../support/postgres-locks.js';
import { describeOnEach, POSTGRES_URL, postgresStore, queryPostgres } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

const delivered = (): DeliveryOutcome => ({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });

await describeOnEach([postgresStore], (store) => {
  describe('Leases on PostgreSQL', () => {
    const afterwards = useCleanUps();
    afterEach(() => {
      vi.restoreAllMocks();
    });

    const open = () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const start = (connection = POSTGRES_URL) => openQueue(afterwards, sharedQueue({ ...options, connection }));
      return { start, schema: options.prefix! };
    };

    it('of a process that stalled go to another one, and it goes on with new ones', async () => {
      for (const level of ['log', 'error'] as const)
        vi.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
      const { start, schema } = open();
      const forwarder = await Forwarder.start(afterwards, POSTGRES_URL);
      const { target } = forwarder;
      const stalled = await start(forwarder.url);
      await stalled.add(['m0', 'm1'].map(newDelivery));
      const leases: Lease[] = [];
      stalled.consume('Webhooks', 1).subscribe((lease) => leases.push(lease));
      await waitFor(async () =>
        (await stalled.counts()).every(({ state, count }) => state === 'delivering' && count === 2),
      );
      forwarder.cut();
      // As another process does where this one gave no sign of life in time.
      await queryPostgres(`DELETE FROM ${schema}.relay_process`);
      const other = await start();
      const taken: Lease[] = [];
      const consumer = other.consume('Webhooks', 2).subscribe((lease) => taken.push(lease));
      await waitFor(() => taken.length === 2);
      expect(taken.map(({ delivery }) => delivery)).toMatchObject(
        ['m0', 'm1'].map((messageId) => ({ messageId, attempts: [], firstAttemptAt: undefined })),
      );
      for (const { settle } of taken) expect(await settle(delivered())).toBe(true);
      consumer.unsubscribe();
      forwarder.target = target;
      await waitFor(async () => (await queryPostgres(`SELECT FROM ${schema}.relay_process`)).length === 2);
      expect(await leases[0]!.settle(delivered())).toBe(false);

      await stalled.add([newDelivery('m2')]);
      await waitFor(() => leases.length === 2);
      expect(leases[1]!.delivery.messageId).toBe('m2');
      expect(await leases[1]!.settle(delivered())).toBe(true);
      const states = (await other.list({})).map(({ messageId, state }) => [messageId, state]);
      expect(states).toEqual(['m2', 'm1', 'm0'].map((messageId) => [messageId, 'delivered']));
    });

    it('that ended before their deliveries were stored are not used: these go out once', async () => {
      const { start, schema } = open();
      const queue = await start();
      const leases: Lease[] = [];
      queue.consume('Webhooks', 2).subscribe((lease) => leases.push(lease));
      await queue.idle();
      const lock = await lockTable(schema, 'relay_seen');
      afterwards(() => lock.release());
      const added = queue.add([newDelivery('m0')]);
      await lock.blocks('INSERT');
      // As another process does where this one gave no sign of life in time.
      const process = `${schema}.relay_process`;
      const [{ token }] = (await queryPostgres(`DELETE FROM ${process} RETURNING token`)) as [{ token: string }];
      await waitFor(async () => (await queryPostgres(`SELECT FROM ${process} WHERE token > ${token}`)).length === 1);
      await lock.release();
      await added;
      await waitFor(() => leases.length > 0);
      expect(await leases[0]!.settle(delivered())).toBe(true);
      expect(leases).toHaveLength(1);
    });

    it('of living processes last though the clock of the server is set, those of an ended one do not', async () => {
      const { start, schema } = open();
      const holder = await start();
      await start();
      await holder.add([newDelivery('m0')]);
      const lease = await firstValueFrom(holder.consume('Webhooks', 1));
      const process = `${schema}.relay_process`;
      await queryPostgres(`INSERT INTO ${process} VALUES (DEFAULT, now() + interval '1 day')`);
      const [last] = (await queryPostgres(`SELECT max(token) AS token FROM ${process}`)) as { token: string }[];
      await waitFor(async () => {
        await queryPostgres(
          `UPDATE ${process} SET renewed_at = renewed_at - interval '1 day' WHERE token < ${last!.token}`,
        );
        return (await queryPostgres(`SELECT FROM ${process} WHERE token = ${last!.token}`)).length === 0;
      });
      expect(await queryPostgres(`SELECT FROM ${process}`)).toHaveLength(2);
      expect(await lease.settle(delivered())).toBe(true);
    });

    it('are settled though PostgreSQL ends the statement because of a deadlock', async () => {
      const { start, schema } = open();
      const queue = await start();
      await queue.add(['m0', 'm1'].map(newDelivery));
      const leases: Lease[] = [];
      queue.consume('Webhooks', 2).subscribe((lease) => leases.push(lease));
      await waitFor(() => leases.length === 2);
      const error = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
      const other = new pg.Client(POSTGRES_URL);
      await other.connect();
      afterwards(() => other.end());
      const lock = (messageId: string) =>
        other.query(`SELECT FROM ${schema}.relay_delivery WHERE message_id = '${messageId}' FOR UPDATE`);
      await other.query(`BEGIN; SET LOCAL deadlock_timeout = '1min'`); // so the other statement is ended
      await lock('m1');
      const settled = Promise.all(leases.map(({ settle }) => settle(delivered())));
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}%settled%'`;
      await waitFor(async () => (await queryPostgres(waiting)).length > 0);
      await lock('m0');
      await other.query('COMMIT');
      expect(await settled).toEqual([true, true]);
      expect(error).not.toHaveBeenCalled();
    });

    it('leave a delivery to the process that is just taking it', async () => {
      const { start, schema } = open();
      const queue = await start();
      await queue.add([newDelivery('m0')]);
      const other = new pg.Client(POSTGRES_URL);
      await other.connect();
      afterwards(() => other.end());
      await other.query(`BEGIN; UPDATE ${schema}.relay_delivery SET state = 'delivering', lease = 0, leased_at = 0`);
      const leases: Lease[] = [];
      queue.consume('Webhooks', 8).subscribe((lease) => leases.push(lease));
      await queue.add([newDelivery('m1')]);
      await waitFor(() => leases.length > 0);
      await other.query('COMMIT');
      await queue.add([newDelivery('m2')]);
      await waitFor(() => leases.length > 1);
      expect(leases.map(({ delivery }) => delivery.messageId)).toEqual(['m1', 'm2']);
    });
  });
});
