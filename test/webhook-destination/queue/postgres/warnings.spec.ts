import { Logger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { openQueue } from '../../../support/open-queue.js';
import { hasPgbouncer, startPgbouncer } from '../../../support/pgbouncer.js';
import { describeOnEach, POSTGRES_URL, postgresStore } from '../../../support/services.js';

const warnings: string[] = [];
vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void warnings.push(String(line)));
afterEach(() => void warnings.splice(0));

await describeOnEach([postgresStore], (store) => {
  describe('At start, a queue on PostgreSQL', () => {
    const afterwards = useCleanUps();
    const open = async (connection: string) => {
      const { options, remove } = store.create();
      afterwards(remove);
      await openQueue(afterwards, sharedQueue({ ...options, connection }));
    };

    it('warns of nothing where all is well', async () => {
      await open(POSTGRES_URL);
      expect(warnings).toEqual([]);
    });

    it('warns of synchronous_commit off', async () => {
      await open(`${POSTGRES_URL}?options=${encodeURIComponent('-c synchronous_commit=off')}`);
      expect(warnings).toEqual([expect.stringContaining("PostgreSQL's synchronous_commit is off")]);
    });

    (hasPgbouncer ? it : it.skip).each([
      ['transaction', ['A pooler drops the startup parameter "options"', 'A pooler in transaction mode is between']],
      ['session', ['A pooler drops the startup parameter "options"']],
    ])('warns of a pooler in %s mode that drops the settings', async (mode, expected) => {
      await open(await startPgbouncer(afterwards, mode));
      expect(warnings).toEqual(expected.map((text) => expect.stringContaining(text) as unknown));
    });
  });
});
