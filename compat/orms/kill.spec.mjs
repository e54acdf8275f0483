import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../test/support/clean-ups.js';
import { describeOnEach, POSTGRES_URL, postgresStore, queryPostgres } from '../../test/support/services.js';
import { startTransactional } from '../../test/support/transactions.js';
import { PACKAGES } from './packages.mjs';

const NAMES = Object.keys(PACKAGES);
const APP = fileURLToPath(new URL('../../test/apps/transactions.app.mjs', import.meta.url));

/** Over all packages; a change runs fewer. */
const KILLS = Number(process.env.CRASH_KILLS ?? 225);

/** Longest time that a process runs transactions before it is killed, in ms. */
const RUN = 300;

await describeOnEach([postgresStore], () => {
  describe('Applications that are killed while they run transactions', () => {
    const afterwards = useCleanUps();

    it(
      'deliver the events of what was committed, and no other',
      async () => {
        const { receiver, schema, relay } = await startTransactional(afterwards);
        await queryPostgres(`CREATE TABLE ${schema}.shop_order (id uuid PRIMARY KEY)`);
        const left = Array.from({ length: KILLS }, (_, index) => NAMES[index % NAMES.length]);
        const errors = [];
        const killAll = async () => {
          for (let name = left.pop(); name; name = left.pop()) {
            const env = { ...process.env, TEST_POSTGRES_URL: POSTGRES_URL, PGAPPNAME: schema };
            const child = spawn(process.execPath, [APP, name, schema], { env, stdio: ['ignore', 'pipe', 'pipe'] });
            afterwards(() => child.kill('SIGKILL'));
            child.stderr.on('data', (data) => errors.push(`${name}: ${data}`));
            await once(child.stdout, 'data');
            await sleep(20 + Math.random() * RUN);
            child.kill('SIGKILL');
            await once(child, 'exit');
          }
        };
        await Promise.all([killAll(), killAll()]);
        const sessions = () => queryPostgres(`SELECT FROM pg_stat_activity WHERE application_name = '${schema}'`);
        await expect.poll(async () => (await sessions()).length, { timeout: 30_000 }).toBe(0); // COMMITs may go on
        const orders = await queryPostgres(`SELECT id FROM ${schema}.shop_order ORDER BY id`);
        await receiver.received(orders.length);
        await expect.poll(async () => (await relay.undelivered()).length, { timeout: 30_000 }).toBe(0);
        const delivered = receiver.webhooks.map(({ headers }) => headers['x-message-id']).sort();
        const ids = orders.map(({ id }) => id);
        expect(delivered.filter((id) => !ids.includes(id))).toEqual([]);
        expect(delivered).toEqual(ids);
        expect(errors).toEqual([]);
        expect(orders.length).toBeGreaterThan(KILLS);
        process.stdout.write(`${KILLS} kills, ${orders.length} orders\n`);
      },
      20 * 60_000,
    );
  });
});
