import { parentPort, workerData } from 'node:worker_threads';

import type { SqliteAnswer, SqliteCall } from './sqlite.protocol.js' with { 'resolution-mode': 'import' };
import { SqliteDatabase } from './sqlite.database.cjs';

/** Shortest time from one commit to the next, in ms: under load it decides how much one sync of the disk is shared by. */
const COMMIT_INTERVAL = 3;

const port = parentPort!;
let lastCommitAt = 0;
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
      return db.walk.list(...call.args);
    case 'counts':
      return db.counts();
    case 'replay':
      return db.replay(...call.args);
    case 'purge':
      return db.walk.purge(...call.args);
    case 'sweep':
      return db.sweep.run(...call.args);
    case 'open':
    case 'close':
      return undefined;
  }
}

/** Runs calls as one durable unit. */
function runTogether(calls: SqliteCall[]): SqliteAnswer[] {
  const db = (database ??= new SqliteDatabase(workerData as string));
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
    const { message, code } = error as Error & { code?: string };
    return { id: call.id, error: { message, code } };
  }
}

/** Group commit: what came in since the last one becomes durable together. */
function commit(): void {
  lastCommitAt = performance.now();
  const calls = group;
  group = [];
  let answers: SqliteAnswer[];
  try {
    answers = runTogether(calls);
  } catch {
    // One call's fault is not that of the others.
    answers = calls.map(runAlone);
  }
  const closing = calls.some(({ operation }) => operation === 'close');
  if (closing) database?.close();
  port.postMessage(answers);
  if (closing) port.close();
}

port.on('message', (calls: SqliteCall[]) => {
  if (group.length === 0) {
    const wait = lastCommitAt + COMMIT_INTERVAL - performance.now();
    if (wait > 0) setTimeout(commit, wait);
    else setImmediate(commit);
  }
  group.push(...calls);
});
