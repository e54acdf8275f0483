// Prints a queue file of the layout that the built package writes, as SQL, with deliveries in every state and a registry:
//   node test/apps/sqlite-layout.app.mjs > test/webhook-destination/queue/layouts/layout-<version>.sql
// Each part of the file is written by a process of its own that ends without closing it, as a crash does.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'libsql';
import { sqliteQueue } from 'nestjs-analytics-relay';

const acceptedAt = 1_700_000_000_000;
const attempt = (status) => ({
  startedAt: acceptedAt + 1_000,
  results: [
    { url: 'https://shop.example/hook', outcome: status === 200 ? 'success' : 'temporary', status, duration: 12 },
  ],
});
const failedUrls = ['https://gone.example/hook'];
const OUTCOMES = {
  delivered: { state: 'delivered', attempt: attempt(200) },
  retry: { state: 'waiting', attempt: attempt(503), nextAttemptAt: acceptedAt, failedUrls },
  waiting: { state: 'waiting', attempt: attempt(503), nextAttemptAt: 4_000_000_000_000, failedUrls },
  dead: { state: 'dead', attempt: attempt(410), reason: 'refused', failedUrls },
};
/** Each part: a destination, what is added to it together, and the outcomes of its deliveries; others stay leased. */
const PARTS = [
  ['Webhooks', ['settled', 'closed'], { settled: 'delivered', closed: 'delivered' }],
  ['Other', ['released'], { released: 'none' }],
  ['Other', ['kept', 'stored'], {}],
  [
    'Webhooks',
    ['first', 'dead', 'waiting', 'late', 'again', 'leased'],
    { first: 'delivered', dead: 'dead', waiting: 'waiting', late: 'retry', again: 'retry', leased: 'none' },
  ],
  [
    'Webhooks',
    ['second', 'third'],
    { late: 'delivered', again: 'none', leased: 'none', second: 'delivered', third: 'none' },
  ],
];

async function write(path, [destination, added, outcomes]) {
  const queue = sqliteQueue({ path })();
  await queue.open();
  const message = (messageId) => {
    const body = Buffer.from(JSON.stringify({ version: 1, type: 'track', event: messageId, userId: 'u1' }));
    return { destination, source: 'shop', messageId, userId: 'u1', body, acceptedAt };
  };
  const awaited = new Set(Object.keys(outcomes));
  if (awaited.size > 0) {
    queue.consume(destination, 16).subscribe(async (lease) => {
      const { messageId } = lease.delivery;
      const outcome = OUTCOMES[outcomes[messageId]];
      outcomes[messageId] = 'none';
      if (outcome) await lease.settle(outcome);
      awaited.delete(messageId);
      if (awaited.size === 0) process.exit();
    });
  }
  const present = (await queue.registry.read(0)).length;
  if (present === 0) await queue.registry.write({ kind: 'destination', name: 'Kept', document: '{"name":"Kept"}' }, 0);
  await queue.add(added.map(message));
  if (awaited.size === 0) process.exit();
}

function print(path) {
  const db = new Database(path);
  const query = (sql) => db.prepare(sql).all();
  const pragma = (name) => `PRAGMA ${name} = ${Object.values(query(`PRAGMA ${name}`)[0])[0]};`;
  console.log(pragma('application_id'));
  console.log(pragma('user_version'));
  for (const { type, name, sql } of query('SELECT type, name, sql FROM sqlite_schema ORDER BY rowid')) {
    console.log(`${sql};`);
    if (type !== 'table') continue;
    const columns = query(`PRAGMA table_info(${name})`).map((column) => `quote("${column.name}")`);
    for (const { row } of query(`SELECT ${columns.join(` || ', ' || `)} AS row FROM "${name}"`)) {
      console.log(`INSERT INTO ${name} VALUES (${row});`);
    }
  }
}

const [, , path, part] = process.argv;
if (path) {
  await write(path, PARTS[part]);
} else {
  const folder = mkdtempSync(join(tmpdir(), 'layout-'));
  const file = join(folder, 'relay.db');
  for (let index = 0; index < PARTS.length; index++) await once(fork(process.argv[1], [file, String(index)]), 'exit');
  print(file);
  rmSync(folder, { recursive: true });
}
