import { Logger } from '@nestjs/common';
import type { DeliveryQueue } from 'nestjs-analytics-relay';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { Forwarder } from '../../../support/forwarder.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { ownPostgres } from '../../../support/own-services.js';
import { describeOnEach, postgresStore, queryPostgres } from '../../../support/services.js';
import { waitFor } from '../../../support/wait-for.js';
import { openQueue } from '../../../support/open-queue.js';

const lines: string[] = [];
for (const level of ['log', 'warn', 'error'] as const) {
  vi.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => void lines.push(String(line)));
}
const outages = () => lines.filter((line) => /^PostgreSQL is/.test(line));

/** The outcome of a call, without its details. */
const attempt = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    () => 'failed',
  );

await describeOnEach([postgresStore], (store) => {
  const afterwards = useCleanUps();
  beforeEach(() => void lines.splice(0));

  const startServer = async () => {
    const server = await ownPostgres();
    afterwards(() => server.remove());
    await server.start();
    return server;
  };
  const setReadOnly = async (url: string, value: 'on' | 'off') => {
    const writable = `${url}?options=${encodeURIComponent('-c default_transaction_read_only=off')}`;
    await queryPostgres(`ALTER SYSTEM SET default_transaction_read_only = ${value}`, writable);
    await queryPostgres('SELECT pg_reload_conf()', writable);
  };
  const open = async (connection: object | string, options: object = {}) => {
    return openQueue(afterwards, sharedQueue({ backend: 'postgres', ...options, connection }));
  };
  /** Adds and reads without end, as an application does. */
  const use = (queue: DeliveryQueue) => {
    let isOver = false;
    let count = 0;
    const results: string[] = [];
    const run = async () => {
      while (!isOver) {
        results.push(await attempt(queue.add([newDelivery(`m${count++}`)])), await attempt(queue.oldest()));
      }
    };
    const running = run();
    afterwards(() => {
      isOver = true;
      return running;
    });
    return results;
  };

  describe('An outage of PostgreSQL', () => {
    it('is logged with one line when it begins and one when it ends, also where only changes fail', async () => {
      const server = await startServer();
      const queue = await open(server.url);
      const results = use(queue);
      const failed = () => results.at(-2) === 'failed';
      await waitFor(() => results.length > 1);
      const begins = [
        [/^PostgreSQL is unavailable, trying again: cannot execute .* in a read-only transaction$/, 'read-only'],
        [/^PostgreSQL is unavailable, trying again: /, 'killed'],
      ] as const;
      for (const [begin, how] of begins) {
        if (how === 'killed') await server.kill();
        else await setReadOnly(server.url, 'on');
        await waitFor(failed);
        const { length } = results;
        await waitFor(() => results.length > length + 20);
        if (how === 'killed') await server.start();
        else await setReadOnly(server.url, 'off');
        await waitFor(() => outages().length === 2);
        expect(outages()).toEqual([
          expect.stringMatching(begin),
          expect.stringMatching(/^PostgreSQL is available again/),
        ]);
        lines.splice(0);
      }
    });

    it('is not the end of an idle connection', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const name = options.prefix!;
      const queue = await open(`${store.url}?application_name=${name}`, options);
      const idle = `FROM pg_stat_activity WHERE application_name = '${name}' AND state = 'idle'`;
      await waitFor(async () => (await queryPostgres(`SELECT ${idle}`)).length > 0);
      await queryPostgres(`SELECT pg_terminate_backend(pid) ${idle}`);
      await waitFor(async () => (await queryPostgres(`SELECT ${idle}`)).length === 0);
      await queue.check();
      expect(outages()).toEqual([]);
    });
  });

  describe('An address that moves to another PostgreSQL', () => {
    it('is followed by the connection that listens, though the former primary still answers', async () => {
      const [former, next] = await Promise.all([startServer(), startServer()]);
      await (await open(next.url)).close(); // creates the tables
      const forwarder = await Forwarder.start(afterwards, former.url);
      const queue = await open(forwarder.url);
      const subscription = queue.registry.changed$!.subscribe();
      afterwards(() => subscription.unsubscribe());
      const isListening = async (url: string) =>
        (await queryPostgres(`SELECT FROM pg_stat_activity WHERE query ILIKE 'LISTEN relay%'`, url)).length === 1;
      await waitFor(() => isListening(former.url));
      forwarder.target = Number(new URL(next.url).port);
      await setReadOnly(former.url, 'on');
      await waitFor(() => isListening(next.url));
    });
  });
});
