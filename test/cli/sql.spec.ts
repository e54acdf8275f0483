import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { runCommand } from '../support/command.js';
import { newDelivery } from '../support/new-delivery.js';
import { openQueue } from '../support/open-queue.js';
import { describeOnEach, postgresStore, queryPostgres } from '../support/services.js';
import { sharedQueue } from '../support/shared-queue.js';

await describeOnEach([postgresStore], (store) => {
  describe('The command sql', () => {
    const afterwards = useCleanUps();

    it('prints what a tool of the application creates the tables with', async () => {
      const { options, remove } = store.create();
      afterwards(remove);
      const { code, stdout, stderr } = await runCommand('sql', '--prefix', options.prefix!);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^-- nestjs-analytics-relay \d+\.\d+\.\d+, layout 1\nCREATE SCHEMA IF NOT EXISTS /);
      await queryPostgres(`SET search_path TO pg_catalog; ${stdout}`);
      const queue = await openQueue(afterwards, sharedQueue({ ...options, backend: 'postgres', migrate: false }));
      await queue.add([newDelivery('m1')]);
      expect(await queue.counts()).toHaveLength(1);
    });

    it('refuses what is no schema', async () => {
      const { code, stderr } = await runCommand('sql', '--prefix', 'a"; DROP');
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('--prefix must be a schema') });
    });
  });
});
