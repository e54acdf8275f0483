import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

import { checkCopy } from './backup-copy.util.js';
import { SqliteDatabase } from './sqlite.database.js';
import { reasonOf } from './sqlite-fault.util.js';
import type {
  CopyCheckData,
  SqliteAnswer,
  SqliteAnswers,
  SqliteCall,
  SqliteParts,
  SqliteWorkerData,
} from './sqlite-worker.interface.js';
import { ThreadLock } from './thread-lock.js';

const port = parentPort!;
let data: SqliteWorkerData;
let parts: SqliteParts | undefined;
let openFailure: Error | undefined;

/** Opens the database. A failure is final: a retry would meet the first lock. */
function open(): void {
  try {
    const queue = new SqliteDatabase(data);
    const { file, figures, logs, registry, series, walk } = queue;
    const { identity, engine } = file;
    const thread = { open: () => ({ identity, engine }), close: () => undefined }; // what they do is not part of a transaction
    parts = { queue, file, figures, logs, registry, series, walk, thread };
  } catch (error) {
    openFailure = error as Error;
  }
}

/** Collects the calls that have arrived since the last commit. */
function collect(first: SqliteCall[]): SqliteCall[] {
  const calls = [...first];
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    calls.push(...(next.message as SqliteCall[]));
  }
  return calls;
}

/** Runs calls as one durable unit, or each by itself if one fails: it must not fail the others. */
function run(calls: SqliteCall[]): SqliteAnswer[] {
  const answers: SqliteAnswer[] = [];
  try {
    if (!parts) throw openFailure!;
    const methods = parts as unknown as Record<string, Record<string, (...args: unknown[]) => unknown>>;
    parts.queue.transaction(() => {
      answers.length = 0; // it may run again
      for (const { id, part, operation, args } of calls) {
        answers.push({ id, result: methods[part]![operation]!(...args) });
      }
    });
    return answers;
  } catch (error) {
    if (calls.length === 1) return [{ id: calls[0]!.id, error: reasonOf(error, data.path) }];
    return calls.flatMap((call) => run([call]));
  }
}

/** Operations that store what is acknowledged to others. */
const ADDING = ['insert', 'write'];

/** Runs calls, and refuses those that add something if the file is not in its place, before or after the commit. */
function answer(calls: SqliteCall[]): SqliteAnswers {
  const lossBefore = parts?.file.findLoss();
  const ran = run(lossBefore === undefined ? calls : calls.filter(({ operation }) => !ADDING.includes(operation)));
  const loss = parts?.file.findLoss();
  const refusal = lossBefore ?? loss;
  const damages = parts?.queue.damages.splice(0) ?? [];
  if (refusal === undefined) return { answers: ran, loss, damages };
  const added = calls.filter(({ operation }) => ADDING.includes(operation));
  const refused = new Set(added.map(({ id }) => id));
  const answers = [...ran.filter(({ id }) => !refused.has(id)), ...added.map(({ id }) => ({ id, error: refusal }))];
  return { answers, loss, damages };
}

/** Group commit: calls that arrive while one group is written become durable together. */
function serve(): void {
  const lock = new ThreadLock(data.lock);
  open();
  port.on('message', (first: SqliteCall[]) => {
    const calls = collect(first);
    const isLast = calls.some(({ operation }) => operation === 'close');
    lock.acquire();
    const answers = answer(calls);
    if (isLast) parts?.file.close();
    lock.release();
    port.postMessage(answers);
    if (isLast) port.close();
  });
  lock.release();
}

const given = workerData as SqliteWorkerData | CopyCheckData;
if ('copy' in given) {
  // The driver releases the file only when its thread ends, as it does here.
  port.postMessage(checkCopy(given));
} else {
  data = given;
  serve();
}
