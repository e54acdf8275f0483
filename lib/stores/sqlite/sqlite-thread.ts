import type { Worker } from 'node:worker_threads';

import { errorMessage } from '../../client/error.util.js';
import { ClosedError, QueueUnavailableError } from '../../common/relay.errors.js';
import type { NewBatchRow } from './delivery-rows.js';
import { explainThreadError } from './libsql.util.cjs';
import type {
  OpenedFile,
  SqliteAnswers,
  SqliteCall,
  SqliteOperation,
  SqliteParts,
  SqliteWorkerData,
} from './sqlite-worker.interface.js';
import { ThreadLock } from './thread-lock.js';
import { startWorker } from './worker.factory.js';

/** Minimum time from one group to the next, in ms: under load, one disk sync serves all calls made meanwhile. */
const GROUP_INTERVAL = 3;

/** A group of this many calls is posted immediately: the thread takes it as soon as it is free. */
const FULL_GROUP = 3;

/** Maximum wait for the thread when the process exits, in ms; a commit on a slow disk takes a fraction of it. */
const EXIT_WAIT = 5_000;

interface PendingCall {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** Returns a message about the queue in a file. */
export function queueMessage(path: string, reason: string): string {
  return `SQLite queue ${path}: ${reason}`;
}

/**
 * The thread that runs the SQL of one file, so that the disk never blocks the event loop. Calls are sent in groups.
 *
 * - closed: calls reject with a `ClosedError`.
 * - opening: the thread opens the file.
 * - open: the thread answers calls. Those made while it is busy form the next group.
 * - failed: calls reject with what has failed.
 *
 *     closed, failed -> opening   start
 *     opening -> open             the file is open
 *     opening -> failed           the file cannot be opened
 *     open -> failed              the thread ends by itself; `onFault` is called
 *     open -> closed              close
 */
export class SqliteThread {
  private worker: Worker | undefined;
  private ended: Promise<void> | undefined;
  private failure: Error | undefined = new ClosedError(queueMessage(this.path, 'it is not open'));
  /** Whether the file is open: an end of the thread is then a fault. */
  private isOpen = false;
  private readonly pending = new Map<number, PendingCall>();
  /** The calls of the next group. */
  private outbox: SqliteCall[] = [];
  /** Whether a timer will post that group. */
  private scheduled = false;
  private lastPostAt = -Infinity;
  private lastCallId = 0;

  /** Why the next start would not find what is written now; undefined if it would. */
  private loss: string | undefined;

  /**
   * @param onFault called with the reason when the thread ends without `close`
   * @param onDamage called with a text that names what could not be read
   * @param onLoss called when the file is no longer in its place, with the reason, or is back
   */
  constructor(
    private readonly path: string,
    private readonly onFault: (reason: string) => void,
    private readonly onDamage: (text: string) => void,
    private readonly onLoss: (reason: string | undefined) => void,
  ) {}

  /** Starts the thread; resolves with what is known of the file, once it is open. */
  async start(data: Omit<SqliteWorkerData, 'path' | 'lock' | 'libsql'>): Promise<OpenedFile> {
    if (this.isOpen) return this.call('thread', 'open');
    const { path } = this;
    const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const worker = startWorker({ ...data, path, lock: memory }, (reason) => queueMessage(path, reason));
    const lock = new ThreadLock(memory);
    const letFinish = () => lock.acquire(EXIT_WAIT);
    process.once('exit', letFinish);
    this.worker = worker;
    this.failure = undefined;
    worker.unref();
    worker.on('message', (answers: SqliteAnswers) => this.receive(answers));
    worker.on('error', (error) => {
      const reason = explainThreadError(error.message);
      this.fail(this.isOpen ? `its thread has ended (${reason})` : reason);
    });
    this.ended = new Promise((resolve) => {
      worker.on('exit', () => {
        process.off('exit', letFinish);
        if (this.worker === worker) this.handleEnd();
        resolve();
      });
    });
    try {
      const opened = await this.call('thread', 'open');
      this.isOpen = true;
      return opened;
    } catch (error) {
      await this.close().catch(() => undefined);
      this.failure = error as Error;
      throw error;
    }
  }

  /** Closes the file, and resolves once the thread has ended. */
  async close(): Promise<void> {
    this.isOpen = false;
    if (!this.worker || this.failure) return;
    try {
      await this.call('thread', 'close');
    } finally {
      this.fail('it is closed', ClosedError);
      // The driver releases the file only when its thread ends, which happens by itself.
      this.worker.ref();
      await this.ended;
    }
  }

  /** Runs an operation in the thread. Rejects when the thread has ended, or ends before it answers. */
  call<P extends keyof SqliteParts, O extends string & keyof SqliteParts[P]>(
    part: P,
    operation: O,
    ...args: Parameters<SqliteOperation<P, O>>
  ): Promise<ReturnType<SqliteOperation<P, O>>> {
    return new Promise((resolve, reject) => {
      if (this.failure) return reject(this.failure);
      const id = ++this.lastCallId;
      if (this.pending.size === 0) this.worker?.ref();
      this.pending.set(id, { resolve, reject });
      this.outbox.push({ id, part, operation, args });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.outbox.length >= FULL_GROUP) return this.post();
    // While the thread is busy, calls wait for its answer.
    const isIdle = this.pending.size === this.outbox.length;
    if (this.scheduled || this.outbox.length === 0 || !isIdle) return;
    this.scheduled = true;
    const post = () => {
      this.scheduled = false;
      this.post();
    };
    const wait = this.lastPostAt + GROUP_INTERVAL - performance.now();
    if (wait > 0) setTimeout(post, wait);
    else setImmediate(post);
  }

  private post(): void {
    const calls = this.outbox;
    if (calls.length === 0) return;
    this.outbox = [];
    this.lastPostAt = performance.now();
    this.send(calls);
  }

  private send(calls: SqliteCall[]): void {
    try {
      this.worker?.postMessage(calls, calls.flatMap(memoryOf));
    } catch (error) {
      // One faulty call must not fail the others.
      if (calls.length > 1) for (const call of calls) this.send([call]);
      else this.receive({ answers: [{ id: calls[0]!.id, error: errorMessage(error) }], loss: this.loss, damages: [] });
    }
  }

  private receive({ answers, loss, damages }: SqliteAnswers): void {
    for (const text of damages) this.onDamage(text);
    if (loss !== this.loss) this.onLoss(loss);
    this.loss = loss;
    for (const { id, result, error } of answers) {
      const call = this.pending.get(id);
      this.pending.delete(id);
      if (error) call?.reject(new QueueUnavailableError(queueMessage(this.path, explainThreadError(error))));
      else call?.resolve(result as never);
    }
    if (this.pending.size === 0) this.worker?.unref();
    this.schedule();
  }

  private handleEnd(): void {
    this.fail('its thread has ended');
    if (!this.isOpen) return;
    this.isOpen = false;
    this.onFault(this.failure!.message);
  }

  private fail(reason: string, Type: typeof ClosedError | typeof QueueUnavailableError = QueueUnavailableError): void {
    this.failure ??= new Type(queueMessage(this.path, reason));
    for (const { reject } of this.pending.values()) reject(this.failure);
    this.pending.clear();
    this.outbox = [];
  }
}

/** Returns memory that is transferred to the thread instead of copied: it was allocated for the call. */
function memoryOf({ operation, args }: SqliteCall): ArrayBuffer[] {
  if (operation !== 'insert') return [];
  return [...new Set((args[0] as NewBatchRow[]).map(({ bodies }) => bodies.buffer as ArrayBuffer))];
}
