// npm run bench:transaction: what an event costs a transaction of one row on PostgreSQL, beside a hand-written row of an
// outbox table, alone and in 64 transactions at once.
import { randomUUID } from 'node:crypto';

import { migratePostgresQueue } from 'nestjs-analytics-relay/postgres';
import pg from 'pg';

import { Child } from '../support/child.js';
import { option } from '../support/option.js';
import { type Goal, median, printGoals, printTable } from '../support/table.js';
import { POSTGRES_URL, type TransactionContender } from './contenders.js';

const CONTENDERS: TransactionContender[] = [
  'no event',
  'outbox row',
  'inTransaction().track()',
  'no event, with NOTIFY',
];
const ROUNDS = Number(option('rounds') ?? 5);

/** Transactions of a run, by how many run at once; without NOTIFY, since that takes long. */
const RUNS = [
  { concurrency: 1, count: 2_000 },
  { concurrency: 64, count: 4_000 },
];

/** Longest transaction with an event, as a multiple of one with the row of an outbox. */
const AT_MOST = 1.25;

const schema = `bench_${randomUUID().replaceAll('-', '')}`;
const client = new pg.Client(POSTGRES_URL);
await client.connect();
await migratePostgresQueue({ connection: POSTGRES_URL, prefix: schema });
await client.query(`
  CREATE TABLE ${schema}.orders (id uuid PRIMARY KEY, user_id text NOT NULL);
  CREATE TABLE ${schema}.outbox (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE,
    destination text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    sent_at timestamptz
  );
  CREATE INDEX ON ${schema}.outbox (destination, position) WHERE sent_at IS NULL;`);

const goals: Goal[] = [];
try {
  for (const { concurrency, count } of RUNS) {
    const results = new Map<TransactionContender, { ms: number; cpu: number }[]>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const contender of CONTENDERS) {
        const [process] = await Child.start('../transaction/application.process', contender, schema);
        const times = contender.endsWith('NOTIFY') ? count / 10 : count;
        await process.ask({ concurrency, count: times });
        const result = await process.ask<{ ms: number; cpu: number }>({ concurrency, count: times });
        results.set(contender, [...(results.get(contender) ?? []), result]);
        await process.stop();
      }
    }
    const ratioTo = (floor: TransactionContender, values: { ms: number }[]) =>
      median(values.map(({ ms }, round) => ms / results.get(floor)![round]!.ms));
    const rows = [...results].map(([contender, values]) => [
      contender,
      median(values.map(({ ms }) => ms)).toFixed(2),
      ratioTo('no event', values).toFixed(2),
      ratioTo('outbox row', values).toFixed(2),
      median(values.map(({ cpu }) => cpu)).toFixed(0),
    ]);
    const head = ['', 'ms / transaction', 'x no event', 'x outbox row', 'CPU us'];
    printTable(`transaction-${concurrency}`, `${concurrency} at once`, head, rows);
    const value = ratioTo('outbox row', results.get('inTransaction().track()')!);
    goals.push({ figure: `time x outbox row, ${concurrency} at once`, value, atMost: AT_MOST });
  }
} finally {
  await client.query(`DROP SCHEMA ${schema} CASCADE`);
  await client.end();
}
printGoals(goals);
