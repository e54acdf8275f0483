import { randomUUID } from 'node:crypto';

import type { Lease } from 'nestjs-analytics-relay';
import pg from 'pg';
import { take, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { MAX_PEER_TEXT } from '../../../../lib/webhook-destination/queue/peer-channel.interface.js';
import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { openQueue } from '../../../support/open-queue.js';
import { describeOnEach, POSTGRES_URL, postgresStore, queryPostgres } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';

const CHANNELS = ['registry', 'due', 'purged', 'peer'].map((kind) => `relay_${kind}`);

await describeOnEach([postgresStore], (store) => {
  describe('The signals of two queues on one PostgreSQL', () => {
    const afterwards = useCleanUps();

    async function start() {
      const { options, remove } = store.create();
      afterwards(remove);
      const one = await openQueue(afterwards, sharedQueue(options));
      const other = await openQueue(afterwards, sharedQueue(options));
      const received: string[] = [];
      const texts = one.peers!.received$.subscribe((text) => received.push(text));
      const registry = one.registry.changed$!.subscribe();
      afterwards(() => [texts, registry].forEach((subscription) => subscription.unsubscribe()));
      /** Resolves once `one` has received all that was sent before. */
      const arrive = async () => {
        const mark = randomUUID();
        await waitFor(async () => {
          await other.peers!.send(mark);
          return received.includes(mark);
        });
      };
      await arrive();
      return { one, other, received, arrive, schema: options.prefix! };
    }

    /** A role of the database that has no rights on the schema, and hears all channels. */
    async function startStranger() {
      const role = `stranger_${randomUUID().replaceAll('-', '')}`;
      await queryPostgres(`CREATE ROLE ${role}`);
      const client = new pg.Client(POSTGRES_URL);
      await client.connect();
      afterwards(async () => {
        await client.end();
        await queryPostgres(`DROP ROLE ${role}`);
      });
      const heard: { channel: string; payload?: string | undefined }[] = [];
      client.on('notification', ({ channel, payload }) => heard.push({ channel, payload }));
      await client.query(`SET ROLE ${role}; ${CHANNELS.map((channel) => `LISTEN ${channel}`).join('; ')}`);
      const send = (channel: string, payload = '') => client.query('SELECT pg_notify($1, $2)', [channel, payload]);
      return { client, heard, send };
    }

    it('tell a role without rights on the schema nothing', async () => {
      const { one, other, arrive, schema } = await start();
      const { client, heard } = await startStranger();
      const leases: Lease[] = [];
      afterwards(() => taking.unsubscribe());
      const taking = one.consume('Webhooks', 2).subscribe((lease) => leases.push(lease));
      await other.add([{ ...newDelivery('secret-message'), userId: 'secret-user' }]);
      await waitFor(() => leases.length === 1);
      await other.peers!.send('{"userId":"secret-user"}');
      await other.purge({ userId: 'secret-user' });
      await other.registry.write({ kind: 'source', name: 'secret-source', document: '{}' }, 0);
      await arrive();

      await waitFor(() => new Set(heard.map(({ channel }) => channel)).size === CHANNELS.length);
      for (const { payload = '' } of heard) {
        const [start, signal = '', ...rest] = payload.split(' ');
        if (!payload.includes(schema)) continue; // of another test
        expect([start, rest]).toEqual([schema, []]);
        expect(Buffer.from(signal, 'base64').toString('base64')).toBe(signal);
        expect(Buffer.from(signal, 'base64').toString('latin1')).not.toMatch(/secret|Webhooks/);
      }
      await expect(client.query(`SELECT * FROM ${schema}.relay_layout`)).rejects.toThrow('permission denied');
    });

    it('are heeded from processes of the schema alone: forged purges stall nothing', async () => {
      const { one, other, received, arrive, schema } = await start();
      const { heard, send } = await startStranger();
      const ids = ['m1', 'm2', 'm3', 'm4'];
      await other.add(ids.map(newDelivery));
      const leases: Lease[] = [];
      const taken = new Promise<Lease[]>((resolve) => {
        one
          .consume('Webhooks', 1)
          .pipe(take(ids.length))
          .subscribe({ next: (lease) => leases.push(lease), complete: () => resolve(leases) });
      });
      await waitFor(() => leases.length === 1);
      await waitFor(async () => (await one.counts()).every(({ state }) => state === 'delivering')); // the others wait in memory

      await other.peers!.send(JSON.stringify((await one.list({})).map(({ id }) => id)));
      await arrive();
      const before = received.length;
      const genuine = [...heard];
      const stored = (await one.list({})).map(({ id }) => id);
      for (const channel of CHANNELS) {
        await send(channel, JSON.stringify([schema, 'stranger', ...stored]));
        await send(channel, `${schema} ${JSON.stringify(stored)}`);
        await send(channel, `${schema} ${Buffer.from(JSON.stringify(stored)).toString('base64')}`);
        await send(channel, schema);
        for (const signal of genuine) if (signal.channel !== channel) await send(channel, signal.payload);
      }
      await arrive();
      expect(received.slice(before, -1).filter((text) => text.startsWith('['))).toEqual([]);

      const startedAt = Date.now();
      for (let index = 0; index < ids.length; index++) {
        await waitFor(() => leases.length > index);
        await leases[index]!.settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      }
      expect((await taken).map(({ delivery }) => delivery.messageId).sort()).toEqual(ids);
      expect(Date.now() - startedAt).toBeLessThan(5_000);
    });

    it('carry texts of the maximum size, and more names than fit', async () => {
      const { one, other, received } = await start();
      const text = 'x'.repeat(MAX_PEER_TEXT - 2);
      await other.peers!.send(text);
      await waitFor(() => received.includes(text));
      const names = Array.from({ length: 200 }, (_, index) => `${index}-${'d'.repeat(60)}`);
      await other.add(names.map((destination) => ({ ...newDelivery('m1'), destination })));
      const due = new Promise<string[]>((resolve) => one.due$.pipe(take(names.length), toArray()).subscribe(resolve));
      expect(new Set(await due).size).toBe(names.length);
    });
  });
});
