import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';

import type { DeliveryCount, DeliveryPage, DeliveryQuery, DeliveryRecord } from '../delivery-queue.interface.js';
import type { Claim, DeliveryStore, Settlement, StoreEntry } from '../embedded/delivery-store.interface.js';
import type { SqliteAnswer, SqliteCall } from './sqlite.protocol.js';
import { sqliteWorkerPath } from './sqlite-worker.path.cjs';

interface PendingCall {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** Deliveries in a SQLite file, written by a thread of its own: disk never blocks the event loop. */
export class SqliteStore implements DeliveryStore {
  private readonly path: string;
  private worker: Worker | undefined;
  private failure: Error | undefined;
  private readonly pending = new Map<number, PendingCall>();
  private outbox: SqliteCall[] = [];
  private lastCallId = 0;

  constructor(path: string) {
    this.path = resolve(path);
  }

  open(): Promise<void> {
    this.worker = new Worker(sqliteWorkerPath, { workerData: this.path });
    this.worker.unref();
    this.worker.on('message', (answers: SqliteAnswer[]) => this.receive(answers));
    this.worker.on('error', (error) => this.fail(error));
    this.worker.on('exit', () => this.fail(new Error('it is closed')));
    return this.call('open', []);
  }

  insert(entries: StoreEntry[]): Promise<string[]> {
    return this.call('insert', [entries]);
  }

  claim(destination: string, limit: number, now: number): Promise<Claim> {
    return this.call('claim', [destination, limit, now]);
  }

  settle(settlement: Settlement): Promise<void> {
    return this.call('settle', [settlement]);
  }

  list(query: DeliveryQuery, page: DeliveryPage): Promise<DeliveryRecord[]> {
    return this.call('list', [query, page]);
  }

  counts(): Promise<DeliveryCount[]> {
    return this.call('counts', []);
  }

  replay(query: DeliveryQuery, now: number): Promise<string[]> {
    return this.call('replay', [query, now]);
  }

  purge(query: DeliveryQuery): Promise<number> {
    return this.call('purge', [query]);
  }

  async close(): Promise<void> {
    if (!this.worker || this.failure) return;
    await this.call('close', []);
    // The driver lets go of the file only with its thread.
    await this.worker.terminate();
  }

  private call<O extends keyof DeliveryStore>(
    operation: O,
    args: Parameters<DeliveryStore[O]>,
  ): ReturnType<DeliveryStore[O]> {
    return new Promise((resolve, reject) => {
      if (this.failure) return reject(this.failure);
      const id = ++this.lastCallId;
      if (this.pending.size === 0) this.worker?.ref();
      this.pending.set(id, { resolve, reject });
      if (this.outbox.length === 0) setImmediate(() => this.post());
      this.outbox.push({ id, operation, args } as SqliteCall);
    }) as ReturnType<DeliveryStore[O]>;
  }

  private post(): void {
    const calls = this.outbox;
    this.outbox = [];
    this.worker?.postMessage(calls);
  }

  private receive(answers: SqliteAnswer[]): void {
    for (const { id, result, error } of answers) {
      const call = this.pending.get(id);
      this.pending.delete(id);
      if (error) call?.reject(this.explain(error));
      else call?.resolve(result as never);
    }
    if (this.pending.size === 0) this.worker?.unref();
  }

  private explain({ message, code }: { message: string; code: string | undefined }): Error {
    const reason = code?.startsWith('SQLITE_BUSY')
      ? 'it is open in another process; each process needs a file of its own, or a shared queue'
      : message;
    return new Error(`SQLite queue ${this.path}: ${reason}`);
  }

  private fail(error: Error): void {
    this.failure ??= this.explain({ message: error.message, code: undefined });
    for (const { reject } of this.pending.values()) reject(this.failure);
    this.pending.clear();
  }
}
