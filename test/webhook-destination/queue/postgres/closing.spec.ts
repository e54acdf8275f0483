import { type AddressInfo, createServer, Socket } from 'node:net';

import type { Lease } from 'nestjs-analytics-relay';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { Forwarder } from '../../../support/forwarder.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { lockTable } from '../../../support/postgres-locks.js';
import { describeOnEach, POSTGRES_URL, postgresStore } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

const names = ['m0', 'm1', 'm2'];

await describeOnEach([postgresStore], (store) => {
  describe('A queue on PostgreSQL that is closed', () => {
    const afterwards = useCleanUps();

    const open = async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const start = async () => {
        return openQueue(afterwards, sharedQueue(options));
      };
      const queue = await start();
      await queue.add(names.map(newDelivery));
      return { queue, start, schema: options.prefix! };
    };

    it.each([
      ['', false],
      [', and that nobody consumes any more', true],
    ])('puts back what it is just taking, in its place%s', async (_how, unsubscribes) => {
      const { queue, start, schema } = await open();
      const lock = await lockTable(schema, 'relay_delivery');
      afterwards(() => lock.release());
      const leases: Lease[] = [];
      const subscription = queue.consume('Webhooks', 8).subscribe((lease) => leases.push(lease));
      await lock.blocks('FOR UPDATE SKIP LOCKED');
      if (unsubscribes) subscription.unsubscribe();
      const closed = queue.close();
      await lock.release();
      await closed;
      expect(leases).toEqual([]);

      const again: Lease[] = [];
      (await start()).consume('Webhooks', 8).subscribe((lease) => again.push(lease));
      await waitFor(() => again.length >= 3);
      expect(again.map(({ delivery }) => delivery.messageId)).toEqual(names);
      expect(again.map(({ delivery }) => delivery.firstAttemptAt)).toEqual([undefined, undefined, undefined]);
    });

    it('records the outcome that it is just recording', async () => {
      const { queue, start, schema } = await open();
      const lease = await firstValueFrom(queue.consume('Webhooks', 1));
      const lock = await lockTable(schema, 'relay_delivery');
      afterwards(() => lock.release());
      const settled = lease.settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      await lock.blocks('settled');
      const closed = queue.close();
      await lock.release();
      await closed;
      expect(await settled).toBe(true);
      const [delivered] = await (await start()).list({ state: 'delivered' });
      expect(delivered).toMatchObject({ messageId: 'm0' });
    });

    it('ends within seconds, with all its connections, though PostgreSQL does not answer', async () => {
      const silent = createServer();
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      afterwards(() => silent.close());
      const forwarder = await Forwarder.start(afterwards, POSTGRES_URL);
      const sockets: Socket[] = [];
      const stream = () => {
        const socket = new Socket();
        sockets.push(socket);
        return socket;
      };
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = sharedQueue({ ...options, connection: { connectionString: forwarder.url, stream } })();
      await queue.open();
      await queue.add([newDelivery('m0')]);
      const { settle } = await firstValueFrom(queue.consume('Webhooks', 1));
      forwarder.mute();
      forwarder.target = (silent.address() as AddressInfo).port;
      const settled = settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } });
      const rejected = expect(settled).rejects.toThrow('Connection terminated');
      const start = performance.now();
      await queue.close();
      expect(performance.now() - start).toBeLessThan(8_000);
      await rejected;
      expect(sockets.filter(({ destroyed }) => !destroyed)).toEqual([]);
    });

    it('refuses calls until it is open again', async () => {
      const { queue, schema } = await open();
      await queue.close();
      const lock = await lockTable(schema, 'relay_process');
      afterwards(() => lock.release());
      const opened = queue.open();
      await lock.blocks('relay_process');
      const calls = [queue.add([newDelivery('m3')]), queue.check()];
      for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'closed' });
      await lock.release();
      await opened;
      await queue.add([newDelivery('m3')]);
    });

    it('leaves what it had leased to another process at once', async () => {
      const { queue, start } = await open();
      const other = await start();
      await firstValueFrom(queue.consume('Webhooks', 1));
      await queue.close();
      const leases: Lease[] = [];
      other.consume('Webhooks', 8).subscribe((lease) => leases.push(lease));
      await waitFor(() => leases.length === 3, undefined, 3_000);
      expect(leases[0]!.delivery.firstAttemptAt).toBeUndefined();
    });
  });
});
