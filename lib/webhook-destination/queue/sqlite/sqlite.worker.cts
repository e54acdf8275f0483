import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

import type { SqliteAnswer, SqliteCall, SqliteWorkerData } from './sqlite.protocol.js' with {
  'resolution-mode': 'import',
};
import { SqliteDatabase } from './sqlite.database.cjs';
import { reasonOf } from './sqlite.faults.cjs';
import { ThreadLock } from './thread.lock.cjs';

const port = parentPort!;
const data = workerData as SqliteWorkerData;
const lock = new ThreadLock(data.lock);
let database: SqliteDatabase | undefined;
let openFailure: Error | undefined;

function run(db: SqliteDatabase, call: SqliteCall): unknown {
  switch (call.operation) {
    case 'insert':
      return db.insert(...call.args);
    case 'claim':
      return db.claim(...call.args);
    case 'settle':
      return db.settle(...call.args);
    case 'list':
      return db.walk.list(...call.args);
    case 'counts':
      return db.counts();
    case 'replay':
      return db.replay(...call.args);
    case 'purge':
      return db.walk.purge(...call.args);
    case 'scrub':
      return db.scrub(...call.args);
    case 'confirmPurge':
      return db.confirmPurge();
    case 'sweep':
      return db.sweep(...call.args);
    case 'shrink':
      return db.shrink();
    case 'open':
    case 'close':
      return undefined;
  }
}

/** The database, opened by the first call. What keeps it from opening stays: a second try would meet the first one's lock. */
function openDatabase(): SqliteDatabase {
  if (openFailure) throw openFailure;
  try {
    return (database ??= new SqliteDatabase(data));
  } catch (error) {
    openFailure = error as Error;
    throw error;
  }
}

/** Runs calls as one durable unit. */
function runTogether(calls: SqliteCall[]): SqliteAnswer[] {
  const db = openDatabase();
  const answers: SqliteAnswer[] = [];
  db.transaction(() => {
    for (const call of calls) answers.push({ id: call.id, result: run(db, call) });
  });
  return answers;
}

function runAlone(call: SqliteCall): SqliteAnswer {
  try {
    return runTogether([call])[0]!;
  } catch (error) {
    return { id: call.id, error: reasonOf(error, data.path) };
  }
}

/** What has come since the last commit. */
function collect(first: SqliteCall[]): SqliteCall[] {
  const calls = [...first];
  for (;;) {
    const next = receiveMessageOnPort(port);
    if (!next) return calls;
    calls.push(...(next.message as SqliteCall[]));
  }
}

function runAll(calls: SqliteCall[]): SqliteAnswer[] {
  try {
    return runTogether(calls);
  } catch {
    // One call's fault is not that of the others.
    return calls.map(runAlone);
  }
}

/** Group commit: what comes while one group is written becomes durable together. */
port.on('message', (first: SqliteCall[]) => {
  const calls = collect(first);
  const isLast = calls.some(({ operation }) => operation === 'close');
  lock.acquire();
  const answers = runAll(calls);
  if (isLast) database?.close();
  lock.release();
  port.postMessage(answers);
  if (isLast) port.close();
});
lock.release();
