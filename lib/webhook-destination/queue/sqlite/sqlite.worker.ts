import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

import { checkCopy } from './copy-check.js';
import { SqliteDatabase } from './sqlite.database.js';
import { reasonOf } from './sqlite.faults.js';
import type { CopyCheckData, SqliteAnswer, SqliteCall, SqliteWorkerData } from './sqlite.protocol.js';
import { ThreadLock } from './thread-lock.js';

const port = parentPort!;
let data: SqliteWorkerData;
let database: SqliteDatabase | undefined;
let openFailure: Error | undefined;

function run(db: SqliteDatabase, { operation, args }: SqliteCall): unknown {
  if (operation === 'open' || operation === 'close') return undefined;
  return (db[operation] as (...args: unknown[]) => unknown).apply(db, args);
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
function serve(): void {
  const lock = new ThreadLock(data.lock);
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
}

const given = workerData as SqliteWorkerData | CopyCheckData;
if ('copy' in given) {
  // The driver lets go of the file only with its thread, which ends here.
  port.postMessage(checkCopy(given.copy));
} else {
  data = given;
  serve();
}
