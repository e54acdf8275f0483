import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';

import { describe } from '../../../common/error.util.js';
import { LineLogger } from '../../../common/line.logger.js';
import type { Delivery, DeliveryCount, DeliveryPage, DeliveryRecord } from '../delivery-queue.interface.js';
import type {
  Claim,
  ClaimLimit,
  DeliveryStore,
  Settlement,
  StoreBatch,
  StoreOwner,
} from '../embedded/delivery-store.interface.js';
import type { CheckedQuery } from '../query.check.js';
import { QueueFullError } from '../queue-full.error.js';
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
import { StoreReopening } from './store.reopening.js';
import { ThreadLock } from './thread.lock.cjs';

/** Shortest time from one group to the next, in ms: under load, one sync of the disk serves all that came meanwhile. */
const GROUP_INTERVAL = 3;

/** So many calls wait for nothing: the thread has them as soon as it is free, while this one takes the next requests. */
const FULL_GROUP = 12;

/** Longest wait for the thread when the process exits, in ms; a commit on a slow disk takes a fraction of it. */
const EXIT_WAIT = 5_000;

/** What a store is made with, beside its path. */
export interface SqliteStoreOptions {
  messageIds: Required<RetentionBound>;
  /** Size in bytes from which nothing is inserted. */
  maxBytes?: number | undefined;
  /** Whether nothing is to change in the file. */
  isReadOnly?: boolean;
}

interface PendingCall {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/**
 * Deliveries in a SQLite file, written by a thread of its own: disk never blocks the event loop. When the thread ends,
 * its calls reject, and another one is started.
 */
export class SqliteStore implements DeliveryStore {
  private readonly logger = new LineLogger('SqliteQueue');
  private readonly path: string;
  private owner: StoreOwner | undefined;
  /** Whether the end of the thread would be a fault. */
  private isOpen = false;
  /** Whether the last insert was refused, as the file holds `maxBytes`. */
  private isFull = false;
  private readonly reopening = new StoreReopening(
    () => this.reopen(),
    (reason) => this.logger.error(`${reason}; trying again`),
  );
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
    private readonly options: SqliteStoreOptions,
  ) {
    this.path = resolve(path);
    this.failure = this.explain('it is not open');
  }

  async open(owner: StoreOwner): Promise<void> {
    await this.reopening.stop();
    this.owner = owner;
    if (!this.isOpen) await this.startThread();
  }

  private async startThread(): Promise<void> {
    const { path } = this;
    const { messageIds, maxBytes, isReadOnly = false } = this.options;
    const memory = ThreadLock.allocate();
    const worker = new Worker(sqliteWorkerSource, {
      eval: true,
      workerData: {
        path,
        messageIds,
        maxBytes,
        isReadOnly,
        leased: this.owner?.leased().map(Number) ?? [],
        now: this.owner?.now() ?? Date.now(),
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
    worker.on('error', (error) => {
      const reason = explainThreadError(error);
      this.fail(new Error(this.isOpen ? `its thread has ended (${reason})` : reason));
    });
    this.ended = new Promise((resolve) => {
      worker.on('exit', () => {
        process.off('exit', letFinish);
        if (this.worker === worker) this.handleEnd();
        resolve();
      });
    });
    try {
      await this.call('open');
      this.isOpen = true;
    } catch (error) {
      await this.endThread().catch(() => undefined);
      this.failure = error as Error;
      throw error;
    }
  }

  private async reopen(): Promise<void> {
    await this.startThread();
    this.logger.log(`SQLite queue ${this.path}: it is open again`);
    this.owner?.reopened();
  }

  private handleEnd(): void {
    this.fail(new Error('its thread has ended'));
    if (!this.isOpen) return;
    this.isOpen = false;
    this.logger.error(`${this.failure!.message}; opening it again`);
    this.reopening.start();
  }

  async insert(batches: StoreBatch[], now: number): Promise<Delivery[][]> {
    const inserted = await this.call('insert', batches.map(toBatchRow), now);
    if (inserted === undefined) throw this.refuse();
    if (this.isFull)
      this.logger.log(`SQLite queue ${this.path}: its size is below maxBytes; it takes new messages again`);
    this.isFull = false;
    return inserted.map((row, index) => toInserted(batches[index]!, row));
  }

  async claim(destination: string, limit: ClaimLimit, now: number): Promise<Claim> {
    const { rows, batches, more, nextDueAt } = await this.call('claim', destination, limit, now);
    const batched = batches.flatMap((batch) => toDeliveries(destination, batch));
    return { deliveries: [...rows.map(toDelivery), ...batched], more, nextDueAt };
  }

  async settle(settlements: Settlement[], now: number): Promise<boolean[]> {
    const unsettled = await this.call('settle', ...toSettlementRows(settlements, now), now);
    return settlements.map(({ delivery }) => unsettled.length === 0 || !unsettled.includes(Number(delivery.id)));
  }

  async list(query: CheckedQuery, { limit = 100, after }: DeliveryPage): Promise<DeliveryRecord[]> {
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

  replay(query: CheckedQuery, now: number): Promise<string[]> {
    return this.call('replay', query, now);
  }

  async purge(query: CheckedQuery): Promise<number> {
    let count = 0;
    let before: number | undefined = Number.MAX_SAFE_INTEGER;
    while (before !== undefined) {
      const { result, next }: Slice<number> = await this.call('purge', query, before);
      count += result;
      before = next;
    }
    return count;
  }

  async scrub(): Promise<void> {
    let page: number | undefined = 1;
    while (page !== undefined) page = await this.call('scrub', page);
    await this.call('confirmPurge');
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
    await this.reopening.stop();
    await this.endThread();
  }

  private async endThread(): Promise<void> {
    this.isOpen = false;
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

  private refuse(): Error {
    const { message } = this.explain(
      `its size has reached maxBytes (${this.options.maxBytes} bytes); it takes no new messages until it is smaller`,
    );
    if (!this.isFull) this.logger.warn(message);
    this.isFull = true;
    return new QueueFullError(message);
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
