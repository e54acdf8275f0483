import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';

import { describe } from '../../../common/error.util.js';
import type {
  Delivery,
  DeliveryCount,
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
} from '../delivery-queue.interface.js';
import type { Claim, ClaimLimit, DeliveryStore, Settlement, StoreBatch } from '../embedded/delivery-store.interface.js';
import type { Retention, RetentionBound } from '../retention.options.js';
import type { Slice } from './sqlite.rows.cjs';
import { toBatchRow, toDeliveries, toDelivery, toInserted, toRecord, toSettlementRows } from './delivery.mapper.js';
import type {
  SqliteAnswer,
  SqliteCall,
  SqliteOperation,
  SqliteOperations,
  SqliteWorkerData,
} from './sqlite.protocol.js';
import { explainThreadError, findDriver } from './sqlite.driver.cjs';
import { sqliteWorkerSource } from './sqlite-worker.source.cjs';
import { ThreadLock } from './thread.lock.cjs';

/** Shortest time from one group to the next, in ms: under load, one sync of the disk serves all that came meanwhile. */
const GROUP_INTERVAL = 3;

/** So many calls wait for nothing: the thread has them as soon as it is free, while this one takes the next requests. */
const FULL_GROUP = 12;

/** Longest wait for the thread when the process exits, in ms; a commit on a slow disk takes a fraction of it. */
const EXIT_WAIT = 5_000;

interface PendingCall {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** Deliveries in a SQLite file, written by a thread of its own: disk never blocks the event loop. */
export class SqliteStore implements DeliveryStore {
  private readonly path: string;
  private worker: Worker | undefined;
  private ended: Promise<void> | undefined;
  private failure: Error | undefined;
  private readonly pending = new Map<number, PendingCall>();
  /** The calls of the next group. */
  private outbox: SqliteCall[] = [];
  /** Whether a timer will post it. */
  private scheduled = false;
  private lastPostAt = -Infinity;
  private lastCallId = 0;

  constructor(
    path: string,
    private readonly messageIds: Required<RetentionBound>,
    private readonly isReadOnly = false,
  ) {
    this.path = resolve(path);
    this.failure = this.explain('it is not open');
  }

  async open(): Promise<void> {
    const { path, messageIds, isReadOnly } = this;
    const memory = ThreadLock.allocate();
    const worker = new Worker(sqliteWorkerSource, {
      eval: true,
      workerData: {
        path,
        messageIds,
        isReadOnly,
        lock: memory,
        driver: this.findDriver(),
      } satisfies SqliteWorkerData,
    });
    const lock = new ThreadLock(memory);
    const letFinish = () => lock.acquire(EXIT_WAIT);
    process.once('exit', letFinish);
    this.worker = worker;
    this.failure = undefined;
    worker.unref();
    worker.on('message', (answers: SqliteAnswer[]) => this.receive(answers));
    worker.on('error', (error) => this.fail(new Error(explainThreadError(error))));
    this.ended = new Promise((resolve) => {
      worker.on('exit', () => {
        process.off('exit', letFinish);
        if (this.worker === worker) this.fail(new Error('its thread has ended; open the queue again'));
        resolve();
      });
    });
    try {
      await this.call('open');
    } catch (error) {
      await this.close().catch(() => undefined);
      this.failure = error as Error;
      throw error;
    }
  }

  async insert(batches: StoreBatch[]): Promise<Delivery[][]> {
    const inserted = await this.call('insert', batches.map(toBatchRow));
    return inserted.map((row, index) => toInserted(batches[index]!, row));
  }

  async claim(destination: string, limit: ClaimLimit, now: number): Promise<Claim> {
    const { rows, batches, more, nextDueAt } = await this.call('claim', destination, limit, now);
    const batched = batches.flatMap((batch) => toDeliveries(destination, batch));
    return { deliveries: [...rows.map(toDelivery), ...batched], more, nextDueAt };
  }

  async settle(settlements: Settlement[]): Promise<boolean[]> {
    const unsettled = await this.call('settle', ...toSettlementRows(settlements));
    return settlements.map(({ delivery }) => unsettled.length === 0 || !unsettled.includes(Number(delivery.id)));
  }

  async list(query: DeliveryQuery, { limit = 100, after }: DeliveryPage): Promise<DeliveryRecord[]> {
    const found: DeliveryRecord[] = [];
    let before = after === undefined ? Number.MAX_SAFE_INTEGER : Number(after);
    while (found.length < limit) {
      const { result, next } = await this.call('list', query, before, limit - found.length);
      found.push(...result.map(toRecord));
      if (next === undefined) break;
      before = next;
    }
    return found;
  }

  counts(): Promise<DeliveryCount[]> {
    return this.call('counts');
  }

  replay(query: DeliveryQuery, now: number): Promise<string[]> {
    return this.call('replay', query, now);
  }

  async purge(query: DeliveryQuery): Promise<number> {
    let count = 0;
    let before: number | undefined = Number.MAX_SAFE_INTEGER;
    while (before !== undefined) {
      const { result, next }: Slice<number> = await this.call('purge', query, before);
      count += result;
      before = next;
    }
    let page: number | undefined = 1;
    while (page !== undefined) page = await this.call('scrub', page);
    await this.call('confirmPurge');
    return count;
  }

  async sweep(retention: Retention, now: number): Promise<number> {
    let count = 0;
    for (;;) {
      const removed = await this.call('sweep', retention, now);
      if (removed === 0) break;
      count += removed;
    }
    while (await this.call('shrink'));
    return count;
  }

  async close(): Promise<void> {
    if (!this.worker || this.failure) return;
    try {
      await this.call('close');
    } finally {
      this.fail(new Error('it is closed'));
      // The driver lets go of the file only with its thread, which runs to its end by itself.
      this.worker.ref();
      await this.ended;
    }
  }

  private findDriver(): string {
    try {
      return findDriver();
    } catch (error) {
      throw this.explain(describe(error));
    }
  }

  private call<O extends SqliteOperation>(
    operation: O,
    ...args: Parameters<SqliteOperations[O]>
  ): Promise<ReturnType<SqliteOperations[O]>> {
    return new Promise((resolve, reject) => {
      if (this.failure) return reject(this.failure);
      const id = ++this.lastCallId;
      if (this.pending.size === 0) this.worker?.ref();
      this.pending.set(id, { resolve, reject });
      this.outbox.push({ id, operation, args } as SqliteCall);
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.outbox.length >= FULL_GROUP) return this.post();
    // While the thread is at work, calls wait for its answer.
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
    try {
      this.worker?.postMessage(calls, calls.flatMap(memoryOf));
    } catch {
      // One call's fault is not that of the others.
      for (const call of calls) this.postAlone(call);
    }
  }

  private postAlone(call: SqliteCall): void {
    try {
      this.worker?.postMessage([call], memoryOf(call));
    } catch (error) {
      this.receive([{ id: call.id, error: describe(error) }]);
    }
  }

  private receive(answers: SqliteAnswer[]): void {
    for (const { id, result, error } of answers) {
      const call = this.pending.get(id);
      this.pending.delete(id);
      if (error) call?.reject(this.explain(error));
      else call?.resolve(result as never);
    }
    if (this.pending.size === 0) this.worker?.unref();
    this.schedule();
  }

  private explain(reason: string): Error {
    return new Error(`SQLite queue ${this.path}: ${reason}`);
  }

  private fail(error: Error): void {
    this.failure ??= this.explain(error.message);
    for (const { reject } of this.pending.values()) reject(this.failure);
    this.pending.clear();
    this.outbox = [];
  }
}

/** Memory that goes over to the thread instead of being copied: it was made for the call. */
function memoryOf(call: SqliteCall): ArrayBuffer[] {
  return call.operation === 'insert' ? call.args[0].map(({ bodies }) => bodies.buffer as ArrayBuffer) : [];
}
