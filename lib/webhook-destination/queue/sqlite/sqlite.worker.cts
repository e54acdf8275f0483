import { parentPort, workerData } from 'node:worker_threads';

import type { SqliteAnswer, SqliteCall } from './sqlite.protocol.js' with { 'resolution-mode': 'import' };
import { SqliteDatabase } from './sqlite.database.cjs';

const port = parentPort!;
let database: SqliteDatabase | undefined;
let group: SqliteCall[] = [];

function run(db: SqliteDatabase, call: SqliteCall): unknown {
  switch (call.operation) {
    case 'insert':
      return db.insert(...call.args);
    case 'claim':
      return db.claim(...call.args);
    case 'settle':
      return db.settle(...call.args);
    case 'list':
      return db.list(...call.args);
    case 'counts':
      return db.counts();
    case 'replay':
      return db.replay(...call.args);
    case 'purge':
      return db.purge(...call.args);
    case 'open':
    case 'close':
      return undefined;
  }
}

/** Group commit: what came in while the last one was being written becomes durable together. */
function commit(): void {
  const calls = group;
  group = [];
  const answers: SqliteAnswer[] = [];
  try {
    database ??= new SqliteDatabase(workerData as string);
    const db = database;
    db.transaction(() => {
      for (const call of calls) answers.push({ id: call.id, result: run(db, call) });
    });
  } catch (error) {
    answers.length = 0;
    const { message, code } = error as Error & { code?: string };
    for (const { id } of calls) answers.push({ id, error: { message, code } });
  }
  const closing = calls.some(({ operation }) => operation === 'close');
  if (closing) database?.close();
  port.postMessage(answers);
  if (closing) port.close();
}

port.on('message', (calls: SqliteCall[]) => {
  if (group.length === 0) setImmediate(commit);
  group.push(...calls);
});
