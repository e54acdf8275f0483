import pg from 'pg';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../../support/shared-queue.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { newDelivery } from '../../../support/new-delivery.js';
import { describeOnEach, POSTGRES_URL, postgresStore, queryPostgres } from '../../../support/services.js';

const SERIALIZABLE = 'default_transaction_isolation=serializable';

await describeOnEach([postgresStore], (store) => {
  describe('A queue on PostgreSQL', () => {
    const afterwards = useCleanUps();

    const create = (connection = POSTGRES_URL) => {
      const { options, remove } = store.create();
      afterwards(remove);
      const queue = sharedQueue({ ...options, connection })();
      afterwards(() => queue.close());
      return { queue, options: { ...options, connection }, schema: options.prefix! };
    };
    /** Creates a database, and returns its URL. */
    const createDatabase = async (settings = '') => {
      const name = `${store.create().options.prefix}`;
      await queryPostgres(`CREATE DATABASE ${name} ${settings}`);
      afterwards(() => queryPostgres(`DROP DATABASE ${name} WITH (FORCE)`));
      return { name, url: Object.assign(new URL(POSTGRES_URL), { pathname: name }).href };
    };

    it('works where the application reads types of PostgreSQL in its own way', async () => {
      for (const [id, parser] of [
        [20, Number], // bigint
        [114, (json: string) => json],
      ] as const) {
        const former = pg.types.getTypeParser(id) as typeof parser;
        pg.types.setTypeParser(id, parser);
        afterwards(() => pg.types.setTypeParser(id, former));
      }
      const { queue } = create();
      await queue.open();
      await queue.add([newDelivery('m0')]);
      const { delivery, settle } = await firstValueFrom(queue.consume('Webhooks', 1));
      expect(delivery).toMatchObject({ id: expect.any(String), messageId: 'm0' });
      expect(await settle({ state: 'delivered', attempt: { startedAt: Date.now(), results: [] } })).toBe(true);
    });

    it.each(['the database', 'the URL'])('works where %s sets another isolation of transactions', async (place) => {
      const { name, url } = await createDatabase();
      if (place === 'the database') await queryPostgres(`ALTER DATABASE ${name} SET ${SERIALIZABLE}`);
      const options = place === 'the URL' ? `?options=${encodeURIComponent(`-c ${SERIALIZABLE}`)}` : '';
      const first = create(url + options);
      const second = sharedQueue(first.options)();
      afterwards(() => second.close());
      await Promise.all([first.queue.open(), second.open()]);
      const ids = Array.from({ length: 20 }, (_, index) => `m${index}`);
      await Promise.all(ids.flatMap((id) => [first.queue, second].map((queue) => queue.add([newDelivery(id)]))));
      expect(await first.queue.counts()).toEqual([{ destination: 'Webhooks', state: 'queued', count: ids.length }]);
    });

    it.each(['as the options say', 'as the URL says'])(
      'creates its tables in a schema that its role has, %s',
      async (how) => {
        const { schema } = create();
        await queryPostgres(`CREATE ROLE ${schema}; CREATE SCHEMA ${schema} AUTHORIZATION ${schema}`);
        afterwards(() => queryPostgres(`DROP OWNED BY ${schema}; DROP ROLE ${schema}`));
        const options = `-c role=${schema}`;
        const url = `${POSTGRES_URL}?options=${encodeURIComponent(options)}`;
        const connection = how === 'as the URL says' ? url : { connectionString: POSTGRES_URL, options };
        const queue = sharedQueue({ backend: 'postgres', prefix: schema, connection })();
        afterwards(() => queue.close());
        await queue.open();
        await queue.close();
        await queue.open();
        const owners = `SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = '${schema}'`;
        expect(await queryPostgres(owners)).toEqual([{ tableowner: schema }]);
      },
    );

    it('does not start in a database that cannot store every text', async () => {
      const { name, url } = await createDatabase(`ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`);
      const { queue, schema } = create(url);
      await expect(queue.open()).rejects.toMatchObject({
        code: 'queue_unavailable',
        message: `postgresQueue: database "${name}" has the encoding LATIN1, which cannot store every text: use a database with the encoding UTF8`,
      });
      expect(await queryPostgres(`SELECT FROM pg_namespace WHERE nspname = '${schema}'`, url)).toEqual([]);
    });
  });
});
