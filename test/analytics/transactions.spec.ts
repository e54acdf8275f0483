import { trace } from '@opentelemetry/api';
import { memoryQueue, AnalyticsModule, AnalyticsService, TransactionError } from 'nestjs-analytics-relay';
import { ExpressAdapter } from '@nestjs/platform-express';
import { postgresQueue } from 'nestjs-analytics-relay/postgres';
import pg from 'pg';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.js';
import { readMetrics, sumOf } from '../support/prometheus.js';
import { Relay } from '../support/relay.js';
import { startRelayApp } from '../support/relay.app.js';
import { describeOnEach, POSTGRES_URL, postgresStore, queryPostgres } from '../support/services.js';
import { Tracing } from '../support/tracing.js';
import { startTransactional } from '../support/transactions.js';
import { waitFor } from '../support/wait-for.js';

const ordered = (messageId: string) => ({ userId: 'u1', event: 'Ordered', messageId });
const posted = (messageId: string) => ({ type: 'track', ...ordered(messageId) });

await describeOnEach([postgresStore], (store) => {
  describe('An event that is recorded in a transaction of the application', () => {
    const afterwards = useCleanUps();

    it('is delivered once the transaction commits', async () => {
      const { receiver, connect, analytics, relay } = await startTransactional(afterwards);
      const client = await connect();
      await analytics.inTransaction(client).track(ordered('m1'));
      await analytics
        .inTransaction(client)
        .identify({ userId: 'u1', messageId: 'm2', traits: { name: 'Zoë \u0000 \ud800' } });
      expect(await relay.service.deliveries()).toEqual([]);
      await client.query('COMMIT');
      await receiver.received(2);
      expect(receiver.webhooks.map(({ body }) => body.type).sort()).toEqual(['identify', 'track']);
    });

    (hasPgbouncer ? it : it.skip)(
      'is delivered if its transaction goes through PgBouncer in transaction mode',
      async () => {
        const { receiver, analytics, rows } = await startTransactional(afterwards);
        const pool = new pg.Pool({ connectionString: await startPgbouncer(afterwards, 'transaction'), max: 8 });
        afterwards(() => pool.end());
        const transact = async (index: number) => {
          const client = await pool.connect();
          await client.query('BEGIN');
          await analytics.inTransaction(client).track(ordered(`m${index}`));
          await client.query(index % 2 === 0 ? 'COMMIT' : 'ROLLBACK');
          client.release();
        };
        await Promise.all(Array.from({ length: 40 }, (_, index) => transact(index)));
        await receiver.received(20);
        expect((await rows()).length).toBe(20);
      },
    );

    it('is delivered by another process', async () => {
      const { receiver, connect, relay } = await startTransactional(afterwards, {}, { mode: 'ingest' });
      const client = await connect();
      await relay.service.accept('wk_shop', [posted('m1')], { transaction: client });
      await client.query('COMMIT');
      await receiver.received(1);
    });

    it('is as if never recorded when the transaction or a savepoint is rolled back', async () => {
      const { receiver, connect, analytics, rows } = await startTransactional(afterwards);
      const client = await connect();
      await analytics.inTransaction(client).track(ordered('m1'));
      await client.query('ROLLBACK');
      await client.query('BEGIN');
      await client.query('SAVEPOINT s');
      await analytics.inTransaction(client).track(ordered('m2'));
      await client.query('ROLLBACK TO s');
      await analytics.inTransaction(client).track(ordered('m1'));
      await client.query('COMMIT');
      await receiver.received(1);
      expect(await rows()).toEqual([{ id: 'm1' }]);
    });

    it('is stored once per messageId that was committed', async () => {
      const { connect, analytics, rows } = await startTransactional(afterwards);
      const client = await connect();
      await analytics.inTransaction(client).track(ordered('m1'));
      await analytics.inTransaction(client).track(ordered('m1'));
      await client.query('COMMIT; BEGIN');
      await analytics.inTransaction(client).track(ordered('m1'));
      await client.query('COMMIT');
      expect(await rows()).toEqual([{ id: 'm1' }]);
    });

    it('counts as repeated once it is committed, if its messageId was', async () => {
      const { options: place, remove } = postgresStore.create();
      afterwards(remove);
      const queue = postgresQueue({ connection: POSTGRES_URL, prefix: place.prefix! });
      const { app, host, relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
        options: { queue, admin: { token: 'secret' } },
        metadata: { imports: [AnalyticsModule.forRoot({ writeKey: 'wk_shop' })] },
      });
      const client = new pg.Client({ connectionString: POSTGRES_URL });
      await client.connect();
      afterwards(() => client.end());
      await client.query('BEGIN');
      const tx = app.get(AnalyticsService).inTransaction(client);
      for (const id of ['m1', 'm2', 'm1']) await tx.track(ordered(id));
      await client.query('COMMIT; BEGIN');
      await tx.track(ordered('m2'));
      await client.query('ROLLBACK; BEGIN');
      await relay.accept('wk_shop', [posted('m3'), posted('m1'), posted('m2')], { transaction: client });
      await client.query('COMMIT');
      const read = async (name: string, labels?: Record<string, string>) =>
        sumOf(await readMetrics(host, 'secret'), name, labels);
      await waitFor(async () => (await read('analytics_relay_ingest_duplicate_total')) === 3);
      const enqueued = { messaging_operation_name: 'enqueue' };
      expect(await read('messaging_client_sent_messages_total', enqueued)).toBe(3);
    });

    it('waits for an open transaction that has its messageId, and replaces it if that is rolled back', async () => {
      const { connect, analytics, rows } = await startTransactional(afterwards);
      const [first, second] = [await connect(), await connect()];
      await analytics.inTransaction(first).track(ordered('m1'));
      const written = analytics.inTransaction(second).track(ordered('m1'));
      await first.query('ROLLBACK');
      await written;
      await second.query('COMMIT');
      expect(await rows()).toEqual([{ id: 'm1' }]);
    });

    it('is refused with the code of PostgreSQL if the transaction is to be repeated', async () => {
      const { connect, analytics } = await startTransactional(afterwards);
      const first = await connect('BEGIN ISOLATION LEVEL SERIALIZABLE');
      await first.query('SELECT 1');
      const second = await connect();
      await analytics.inTransaction(second).track(ordered('m1'));
      await second.query('COMMIT');
      const refused = analytics.inTransaction(first).track(ordered('m1'));
      await expect(refused).rejects.toMatchObject({ code: '40001', message: expect.stringContaining('aborted') });
      await first.query('ROLLBACK; BEGIN ISOLATION LEVEL SERIALIZABLE');
      await analytics.inTransaction(first).track(ordered('m1'));
      await analytics.inTransaction(first).track(ordered('m2'));
      await first.query('COMMIT');
    });

    it('needs INSERT on the view alone, and is recorded under row-level security', async () => {
      const { connect, analytics, schema, rows } = await startTransactional(afterwards);
      const role = `${schema}_app`;
      await queryPostgres(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role};
        ALTER TABLE ${schema}.relay_delivery ENABLE ROW LEVEL SECURITY`);
      afterwards(() => queryPostgres(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
      const client = await connect();
      await client.query(`SET LOCAL ROLE ${role}`);
      await expect(analytics.inTransaction(client).track(ordered('m1'))).rejects.toThrow(
        'INSERT on its view relay_record',
      );
      await client.query('ROLLBACK');
      await queryPostgres(`GRANT INSERT ON ${schema}.relay_record TO ${role}`);
      await client.query(`BEGIN; SET LOCAL ROLE ${role}; SET CONSTRAINTS ALL IMMEDIATE`);
      await analytics.inTransaction(client).track(ordered('m1'));
      await client.query('COMMIT');
      expect(await rows()).toEqual([{ id: 'm1' }]);
    });

    it('is refused, with nothing written, without an open transaction', async () => {
      const { pool, connect, analytics, rows, schema } = await startTransactional(afterwards);
      const client = await connect();
      await client.query('COMMIT');
      const refusal = (tx: unknown) => analytics.inTransaction(tx).track(ordered('m1'));
      await expect(refusal(client)).rejects.toThrow('did not run in a transaction, and has written nothing');
      await expect(refusal(pool)).rejects.toThrow('pass the client of pool.connect() on which you have run BEGIN');
      for (const value of [{}, 'tx', 1]) await expect(refusal(value)).rejects.toThrow('no package that is known');
      expect(() => analytics.inTransaction(undefined)).toThrow(TransactionError);
      await client.query('BEGIN READ ONLY');
      await expect(refusal(client)).rejects.toThrow('read-only. The transaction is aborted');
      await expect(refusal(client)).rejects.toThrow('an earlier statement has failed');
      await client.query('ROLLBACK; BEGIN');
      await queryPostgres(`UPDATE ${schema}.relay_layout SET relay_id = gen_random_uuid()`);
      await expect(refusal(client)).rejects.toMatchObject({ name: 'TransactionError', code: 'transaction_invalid' });
      const ended = new pg.Client(POSTGRES_URL);
      await ended.connect();
      await ended.query('BEGIN');
      await ended.end();
      await expect(refusal(ended)).rejects.toThrow('cannot run the statement');
      expect(await rows()).toEqual([]);
    });

    it('is refused in a database without the queue', async () => {
      const { analytics } = await startTransactional(afterwards);
      const name = store.create().options.prefix!;
      await queryPostgres(`CREATE DATABASE ${name}`);
      afterwards(() => queryPostgres(`DROP DATABASE ${name} WITH (FORCE)`));
      const client = new pg.Client(Object.assign(new URL(POSTGRES_URL), { pathname: name }).href);
      await client.connect();
      await client.query('BEGIN');
      const refused = analytics.inTransaction(client).track(ordered('m1'));
      await expect(refused).rejects.toThrow('does not have the schema of the queue');
      await client.end();
    });

    it('is refused if it breaks a rule, and the transaction goes on', async () => {
      const { connect, analytics, relay, rows } = await startTransactional(afterwards, {
        beforeSend: (event) => (event.event === 'Secret' ? null : event),
      });
      const client = await connect();
      const tx = analytics.inTransaction(client);
      await expect(tx.track({ event: 'Ordered' })).rejects.toMatchObject({ code: 'no_user_anon_id' });
      await expect(tx.track({ userId: 'u1', event: '' })).rejects.toMatchObject({ field: 'event' });
      await expect(tx.track({ ...ordered('m1'), properties: { text: 'x'.repeat(40_000) } })).rejects.toMatchObject({
        code: 'message_too_large',
      });
      await tx.track({ userId: 'u1', event: 'Secret' });
      const refused = relay.service.accept('wk_shop', [posted('m1'), { type: 'track' }], { transaction: client });
      await expect(refused).rejects.toMatchObject({ name: 'ValidationError', code: 'no_user_anon_id' });
      await expect(refused).rejects.toThrow(/^messages\[1\]: /);
      await relay.service.accept('wk_shop', [posted('m2'), posted('m3')], { transaction: client });
      await client.query('COMMIT');
      expect(await rows()).toEqual([{ id: 'm2' }, { id: 'm3' }]);
    });

    it('has the trace in which it was recorded, as outside', async () => {
      const tracing = Tracing.start();
      afterwards(() => tracing.stop());
      const { connect, analytics, schema, receiver } = await startTransactional(afterwards);
      const client = await connect();
      const traceId = await trace.getTracer('test').startActiveSpan('order', async (span) => {
        await analytics.inTransaction(client).track(ordered('m1'));
        await client.query('COMMIT');
        analytics.track(ordered('m2'));
        span.end();
        return span.spanContext().traceId;
      });
      await receiver.received(2);
      const rows = (await queryPostgres(`SELECT trace FROM ${schema}.relay_delivery`)) as { trace: string }[];
      expect(rows[0]!.trace).toContain(traceId);
      expect(rows[1]).toEqual(rows[0]);
    });

    it('is recorded in a transaction of any package with transactionRunner', async () => {
      const transactionRunner = (tx: unknown) => async (sql: string, params: unknown[]) =>
        (await (tx as { own: pg.Client }).own.query(sql, params)).rows as unknown[];
      const { connect, analytics, receiver } = await startTransactional(afterwards, { transactionRunner });
      const client = await connect();
      await analytics.inTransaction({ own: client }).track(ordered('m1'));
      await client.query('COMMIT');
      await receiver.received(1);
      const silent = await startTransactional(afterwards, { transactionRunner: () => () => [] });
      await expect(silent.analytics.inTransaction({}).track(ordered('m1'))).rejects.toThrow(
        'did not return their rows',
      );
    });
  });
});

describe('inTransaction', () => {
  const afterwards = useCleanUps();

  it('says which queue to use', async () => {
    const imports = [AnalyticsModule.forRoot({ writeKey: 'wk_shop' })];
    const relay = await Relay.start({ imports, queue: memoryQueue() });
    afterwards(() => relay.stop());
    const refused = relay.app.get(AnalyticsService).inTransaction({}).track(ordered('m1'));
    await expect(refused).rejects.toThrow('use postgresQueue() in the database of the transaction');
    const transaction = {};
    await expect(relay.service.accept('wk_shop', [posted('m1')], { transaction })).rejects.toThrow(TransactionError);
  });
});
