import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { NEVER } from 'rxjs';

import { LineLogger } from '../../common/line.logger.js';
import { QueueFullError } from '../../common/relay.errors.js';
import type {
  DeliveryCount,
  DeliveryRecord,
  KeptSince,
  OldestDelivery,
  PurgedSource,
  QueueCondition,
  SweptRecords,
} from '../../webhook-destination/queue/delivery.interface.js';
import type {
  Claim,
  ClaimLimit,
  DeliveryStore,
  Insertion,
  MessageKey,
  ReplayQuery,
  Settlement,
  StoreBatch,
  StoreOwner,
} from '../../webhook-destination/queue/store/delivery-store.interface.js';
import {
  type CheckedSearch,
  type DeliveryPortion,
  SearchPace,
} from '../../webhook-destination/queue/delivery-search.js';
import { SearchedFields } from '../../webhook-destination/queue/searched-fields.js';
import type { CheckedPage, CheckedQuery } from '../../webhook-destination/queue/query.util.js';
import type { Retention } from '../../webhook-destination/queue/retention.options.js';
import type { LogStore } from '../../webhook-destination/queue/log-store.interface.js';
import type { SeriesStore } from '../../webhook-destination/queue/series-store.interface.js';
import type { SqliteFileOptions } from './sqlite-worker.interface.js';
import type { DeliveryPlace, KeyedSearch, Slice, WholeRows } from './delivery-rows.js';
import {
  toBatchRows,
  toDeliveries,
  toInsertion,
  toRecords,
  toSettlementRows,
  toUnattempted,
} from './delivery.mapper.js';
import { SqliteRegistryStore } from './sqlite-registry.store.js';
import { queueMessage, SqliteThread } from './sqlite-thread.js';
import { StoreReopening } from './store-reopening.js';

/** With this many deliveries, the thread begins to write while the process reads more requests. */
const FULL_TURN = 75;

/** Pages that one call scrubs: other calls of the thread wait meanwhile. */
const SCRUBBED_PAGES = 512;

/** Time between two calls that sweep, in ms: each takes about as long. */
const SWEEP_PAUSE = 5;

/** Deliveries in a SQLite file, written by a thread of its own. If the thread fails, another one is started. */
export class SqliteStore implements DeliveryStore {
  readonly isShared = false;
  readonly fullTurn = FULL_TURN;
  readonly transactions = undefined;
  readonly peers = undefined;
  readonly due$ = NEVER;
  readonly registry: SqliteRegistryStore;
  readonly series: SeriesStore = {
    read: (series, from, to) => this.thread.call('series', 'read', series, from, to),
    write: (records, oldest) => this.thread.call('series', 'write', records, oldest),
  };
  readonly logs: LogStore = {
    write: (log, records) => this.thread.call('logs', 'write', log, records),
    update: (log, records) => this.thread.call('logs', 'update', log, records),
    read: (log, limit, before) => this.thread.call('logs', 'read', log, limit, before),
    find: (log, ids) => this.thread.call('logs', 'find', log, ids),
    remove: (log, ids) => this.thread.call('logs', 'remove', log, ids),
    names: (start) => this.thread.call('logs', 'names', start),
    removeOld: (now, most) => this.thread.call('logs', 'removeOld', now, most),
  };
  private readonly logger = new LineLogger('SqliteQueue');
  private readonly path: string;
  private readonly thread: SqliteThread;
  private owner: StoreOwner | undefined;
  private searched = new SearchedFields();
  /** Identity of the open file: only that file is opened again. */
  private identity: string | undefined;
  /** Whether the last insert was refused because the file has reached `maxBytes`. */
  private isFull = false;
  private readonly reopening = new StoreReopening(
    () => this.reopen(),
    (reason) => this.logger.error(`${reason}; trying again`),
  );

  constructor(
    path: string,
    private readonly options: SqliteFileOptions,
  ) {
    this.path = resolve(path);
    this.thread = new SqliteThread(
      this.path,
      (reason) => {
        this.logger.error(`${reason}; opening it again`);
        this.reopening.start();
      },
      (text) => this.logger.error(queueMessage(this.path, text)),
      (loss) => {
        if (loss === undefined)
          this.logger.log(queueMessage(this.path, 'the file is back, so new messages are accepted'));
        else this.logger.error(queueMessage(this.path, loss));
      },
    );
    this.registry = new SqliteRegistryStore(this.thread);
  }

  now(): number {
    return Date.now();
  }

  /** Leases last while the file is open. */
  holdsLeases(): boolean {
    return true;
  }

  async open(owner: StoreOwner): Promise<void> {
    await this.reopening.stop();
    this.owner = owner;
    this.searched = owner.searched;
    this.identity = undefined;
    const engine = await this.startThread();
    this.logger.log(queueMessage(this.path, `opened with ${engine}`));
  }

  /** Resolves with a text that names the version of SQLite and the driver. */
  private async startThread(): Promise<string> {
    const leased = this.owner?.leased().map(Number) ?? [];
    const { options } = this;
    const now = this.owner?.now() ?? Date.now();
    const { identity, engine } = await this.thread.start({ ...options, identity: this.identity, leased, now });
    this.identity = identity;
    this.registry.mustBeScrubbed = !options.isReadOnly; // an earlier process may have been killed
    return engine;
  }

  private async reopen(): Promise<void> {
    await this.startThread();
    this.logger.log(`SQLite queue ${this.path}: it is open again`);
    this.owner?.reopened();
  }

  async insert(batches: StoreBatch[], now: number, beyondLimit: boolean): Promise<Insertion[]> {
    const inserted = await this.thread.call('queue', 'insert', toBatchRows(batches, this.searched), now, beyondLimit);
    if (inserted === undefined) throw this.refuse();
    if (this.isFull && !beyondLimit) {
      this.isFull = false;
      this.logger.log(`SQLite queue ${this.path}: its size is below maxBytes, so new messages are accepted again`);
    }
    return inserted.map((row, index) => toInsertion(batches[index]!, row));
  }

  remembers(message: MessageKey, destinations: readonly string[], now: number): Promise<string[]> {
    return this.thread.call('queue', 'remembers', message, destinations, now);
  }

  async claim(destination: string, limit: ClaimLimit, now: number): Promise<Claim> {
    const { rows, batches, ...claim } = await this.thread.call('queue', 'claim', destination, limit, now);
    const unattempted = batches.flatMap((batch) => toUnattempted(destination, batch));
    return { ...claim, deliveries: [...toDeliveries(rows), ...unattempted] };
  }

  async settle(settlements: Settlement[], now: number): Promise<boolean[]> {
    const unsettled = await this.thread.call('queue', 'settle', ...toSettlementRows(settlements), now);
    return settlements.map(
      ({ delivery, isInDoubt }) => isInDoubt || unsettled.length === 0 || !unsettled.includes(Number(delivery.id)),
    );
  }

  async list(query: CheckedQuery, page: CheckedPage): Promise<DeliveryRecord[]> {
    const { deliveries } = await this.find({ query, acceptedFrom: -Infinity }, page);
    return deliveries;
  }

  search(search: CheckedSearch, page: CheckedPage): Promise<DeliveryPortion> {
    return this.find({ ...search, keys: this.searched.keysFor(search.values) }, page, new SearchPace());
  }

  async check(): Promise<QueueCondition> {
    const condition = await this.thread.call('queue', 'check');
    const { bavail, bsize } = await statfs(this.path);
    return { ...condition, freeDisk: bavail * bsize };
  }

  oldest(): Promise<OldestDelivery[]> {
    return this.thread.call('figures', 'oldest');
  }

  counts(): Promise<DeliveryCount[]> {
    return this.thread.call('figures', 'counts');
  }

  keptSince(): Promise<KeptSince[]> {
    return this.thread.call('figures', 'keptSince');
  }

  async replay(query: ReplayQuery, now: number): Promise<string[]> {
    const replayed: string[][] = [];
    let after: DeliveryPlace | undefined = { destination: '', id: 0 };
    while (after) {
      const { result, next }: Slice<string[], DeliveryPlace> = await this.thread.call(
        'queue',
        'replay',
        query,
        now,
        after,
      );
      replayed.push(result);
      after = next;
    }
    return replayed.flat();
  }

  async expedite(destination: string, now: number): Promise<number> {
    let sum = 0;
    for (let count = 1; count > 0; sum += count) count = await this.thread.call('queue', 'expedite', destination, now);
    return sum;
  }

  async purge(query: CheckedQuery, keepsNotices: boolean): Promise<PurgedSource[]> {
    const purged: PurgedSource[] = [];
    let before: number | undefined = Number.MAX_SAFE_INTEGER;
    while (before !== undefined) {
      const { result, next }: Slice<PurgedSource[]> = await this.thread.call(
        'walk',
        'purge',
        query,
        keepsNotices,
        before,
      );
      purged.push(...result);
      before = next;
    }
    return purged;
  }

  async scrub(): Promise<void> {
    // Towards the beginning of the file, as pages move when it shrinks.
    for (let end = await this.thread.call('file', 'pageCount'); end > 0; end -= SCRUBBED_PAGES) {
      await this.thread.call('file', 'scrub', Math.max(end - SCRUBBED_PAGES, 0) + 1, end);
    }
    await this.thread.call('file', 'confirmPurge');
  }

  async sweep(retention: Retention, now: number): Promise<SweptRecords> {
    let swept = await this.thread.call('queue', 'sweep', retention, now, true);
    while (!swept) {
      await sleep(SWEEP_PAUSE);
      swept = await this.thread.call('queue', 'sweep', retention, now, false);
    }
    while (await this.thread.call('file', 'shrink'));
    await this.registry.scrub();
    return swept;
  }

  beginClose(): void {}

  async close(): Promise<void> {
    await this.reopening.stop();
    await this.registry.scrub().catch(() => undefined); // the next process does it
    await this.thread.close();
  }

  /** Searches until the page is full or, at a pace, for one portion. */
  private async find(
    search: KeyedSearch,
    { limit, after, isBodiless = false }: CheckedPage,
    pace?: SearchPace,
  ): Promise<DeliveryPortion> {
    const deliveries: DeliveryRecord[] = [];
    let before: number | undefined = after === undefined ? Number.MAX_SAFE_INTEGER : Number(after);
    while (before !== undefined && deliveries.length < limit) {
      const slice: Slice<WholeRows> = await this.thread.call(
        'walk',
        'search',
        search,
        before,
        limit - deliveries.length,
        isBodiless,
      );
      deliveries.push(...toRecords(slice.result));
      before = slice.next;
      pace?.found(slice.result.bodies.length);
      if (pace?.isOver) break;
      if (before !== undefined && pace?.isDue) await pace.pause();
    }
    return { deliveries, next: before === undefined ? undefined : String(before) };
  }

  private refuse(): Error {
    const message = queueMessage(
      this.path,
      `its size has reached maxBytes (${this.options.maxBytes} bytes); new messages are refused until it is smaller`,
    );
    if (!this.isFull) this.logger.warn(message);
    this.isFull = true;
    return new QueueFullError(message);
  }
}
