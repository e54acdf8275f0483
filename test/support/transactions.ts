import type { ModuleMetadata } from '@nestjs/common';
import { AnalyticsModule, type AnalyticsModuleOptions, AnalyticsService } from 'nestjs-analytics-relay';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';
import pg from 'pg';

import type { Afterwards } from './clean-ups.js';
import { Receiver } from './receiver.js';
import { Relay } from './relay.js';
import { POSTGRES_URL, postgresStore, queryPostgres } from './services.js';

/** An application whose queue is in the database of its transactions, with the schema of the queue. */
export async function startTransactional(
  afterwards: Afterwards,
  options: Partial<AnalyticsModuleOptions> = {},
  { mode, ...around }: Pick<ModuleMetadata, 'imports' | 'providers'> & { mode?: 'ingest' } = {},
) {
  const receiver = await Receiver.start();
  afterwards(() => receiver.stop());
  const { options: place, remove } = postgresStore.create();
  afterwards(remove);
  const schema = place.prefix!;
  const start = async (...imports: NonNullable<ModuleMetadata['imports']>) => {
    const queue = postgresQueue({ connection: POSTGRES_URL, prefix: schema });
    const destinations = [{ urls: [receiver.url] }];
    const relay = await Relay.start({ queue, destinations, mode, ...around, imports });
    afterwards(() => relay.stop());
    return relay;
  };
  const relay = await start(...(around.imports ?? []), AnalyticsModule.forRoot({ writeKey: 'wk_shop', ...options }));
  if (mode === 'ingest') {
    mode = undefined;
    await start();
  }
  const pool = new pg.Pool({ connectionString: POSTGRES_URL });
  afterwards(() => pool.end());
  const connect = async (begin = 'BEGIN') => {
    const client = await pool.connect();
    afterwards(() => client.release(true));
    await client.query(begin);
    return client;
  };
  const rows = async () =>
    (await queryPostgres(`SELECT message_id AS id FROM ${schema}.relay_delivery ORDER BY id`)) as { id: string }[];
  const analytics = relay.app.get(AnalyticsService);
  return { relay, receiver, schema, pool, connect, rows, analytics };
}
