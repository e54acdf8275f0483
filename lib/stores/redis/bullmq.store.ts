import { ignoreElements, merge, type Observable, tap } from 'rxjs';

import { ADDRESS_NOT_ALLOWED } from '../../common/relay.errors.js';
import {
  DELIVERY_STATES,
  type DeliveryCount,
  type DeliveryRecord,
  type KeptSince,
  type NewDelivery,
  type OldestDelivery,
  type PurgedSource,
  type QueueCondition,
  type SweptRecords,
  type TakenDelivery,
  UNLIMITED,
} from '../../webhook-destination/queue/delivery.interface.js';
import {
  type CheckedSearch,
  type DeliveryPortion,
  searchByList,
} from '../../webhook-destination/queue/delivery-search.js';
import { SearchedFields } from '../../webhook-destination/queue/searched-fields.js';
import type { CheckedPage, CheckedQuery } from '../../webhook-destination/queue/query.util.js';
import type { LogStore } from '../../webhook-destination/queue/log-store.interface.js';
import type { PeerChannel } from '../../webhook-destination/queue/peer-channel.interface.js';
import type { RegistryStore } from '../../webhook-destination/queue/registry-store.interface.js';
import type { SeriesStore } from '../../webhook-destination/queue/series-store.interface.js';
import type { Retention } from '../../webhook-destination/queue/retention.options.js';
import { CallGroup } from '../shared/call-group.js';
import type { RedisQueueOptions } from './redis.options.js';
import type { SharedStore } from '../shared/shared.queue.js';
import type {
  Claim,
  ClaimLimit,
  Insertion,
  MessageKey,
  ReplayQuery,
  Settlement,
  StoreBatch,
  StoreOwner,
} from '../../webhook-destination/queue/store/delivery-store.interface.js';
import {
  isOpenNoticeJob,
  isReadable,
  type NewJob,
  placeOf,
  sourceOf,
  toJob,
  toJobId,
  toReplayedData,
  toTakenJob,
} from './job.codec.js';
import { JobClaims } from './job-claims.js';
import { countJobs, find, firstOpen, listRecords } from './job.finder.js';
import { JobLeases, removeJob } from './job-leases.js';
import { type DestinationJobs, isLost, JobQueues } from './job-queues.js';
import { JobUpkeep } from './job-upkeep.js';
import { searchKeyed } from './keyed-search.js';
import { RetentionSweep } from './retention-sweep.js';

/** Maximum wait for Redis when adding deliveries, in ms. */
const ADD_TIMEOUT = 10_000;

/** Jobs made due, or queues read, at once: that blocks Redis. */
const PORTION = 1_000;

/** Destinations whose oldest delivery is looked up concurrently; few, because leases use the same connection. */
const SIDE_BY_SIDE = 50;

/** A delivery to be stored, and whether it was skipped, because its message is remembered. */
interface Addition {
  delivery: NewDelivery;
  isRepeated?: boolean;
}

/** Deliveries in Redis that many processes share: each destination is a BullMQ queue, each delivery a job. */
export class BullmqStore implements SharedStore {
  readonly isShared = true;
  readonly fullTurn = 1;
  private readonly store = new JobQueues(this.options);
  private readonly claims = new JobClaims(this.store, () => this.owner?.leased() ?? []);
  private readonly leases = new JobLeases(this.store, this.claims);
  private readonly upkeep = new JobUpkeep(this.store, this.leases);
  private readonly sweeper = new RetentionSweep(this.store, this.options.retention);
  private readonly group = new CallGroup<Addition>((additions) => this.writeAdditions(additions));
  private owner: StoreOwner | undefined;
  private searched = new SearchedFields();
  readonly registry: RegistryStore = this.store.registry;
  readonly series: SeriesStore = this.store.series;
  readonly logs: LogStore = this.store.logs;
  readonly transactions = undefined;
  readonly peers: PeerChannel = this.store.signals;
  readonly due$: Observable<string> = merge(
    this.upkeep.names$,
    this.claims.fetched$,
    this.store.signals.purged$.pipe(
      tap((ids) => {
        this.claims.forget(ids);
        this.owner?.purged(ids);
      }),
      ignoreElements(),
    ),
  );

  constructor(private readonly options: RedisQueueOptions) {}

  now(): number {
    return Date.now();
  }

  holdsLeases(): boolean {
    return this.leases.areHeld;
  }

  async open(owner: StoreOwner): Promise<void> {
    this.owner = owner;
    this.searched = owner.searched;
    await this.store.open();
    await this.upkeep.open(owner);
  }

  /** BullMQ cannot add a job as leased. */
  async insert(batches: StoreBatch[]): Promise<Insertion[]> {
    const additions = batches.map(({ deliveries }) => deliveries.map((delivery): Addition => ({ delivery })));
    await this.group.add(additions.flat(), ADD_TIMEOUT);
    return additions.map((batch) => ({
      leased: [],
      repeated: batch.flatMap(({ delivery, isRepeated }) => (isRepeated ? delivery : [])),
    }));
  }

  remembers({ source, messageId }: MessageKey, destinations: readonly string[]): Promise<string[]> {
    return this.deduplicates ? this.store.remembers(toJobId(source, messageId), destinations) : Promise.resolve([]);
  }

  async take(deliveries: Readonly<TakenDelivery>[]): Promise<void> {
    await this.write(deliveries, toTakenJob);
  }

  async claim(destination: string, limit: ClaimLimit, now: number): Promise<Claim> {
    const { dueAt, ...claim } = await this.claims.claim(destination, limit, now);
    this.upkeep.touch(destination, dueAt);
    return claim;
  }

  settle(settlements: Settlement[], now: number): Promise<(boolean | Error)[]> {
    for (const { delivery, outcome } of settlements) {
      this.upkeep.touch(delivery.destination, outcome?.state === 'waiting' ? outcome.nextAttemptAt : undefined);
    }
    return this.leases.settle(settlements, now);
  }

  async list(query: CheckedQuery, page: CheckedPage): Promise<DeliveryRecord[]> {
    return listRecords(this.store, await this.queuesOf(query), query, page);
  }

  search(search: CheckedSearch, page: CheckedPage): Promise<DeliveryPortion> {
    const [key] = this.searched.keysFor(search.values);
    // One delivery is read by its id.
    if (key === undefined || search.query.id !== undefined) return searchByList(this, search, page);
    return searchKeyed(this.store, key, search, page);
  }

  async check(): Promise<QueueCondition> {
    return { ...UNLIMITED, unreadable: await this.store.check() };
  }

  async oldest(): Promise<OldestDelivery[]> {
    const names = await this.store.due.names('+inf'); // every destination with open deliveries is on the list
    const oldest: OldestDelivery[] = [];
    for (let start = 0; start < names.length; start += SIDE_BY_SIDE) {
      const portion = names.slice(start, start + SIDE_BY_SIDE);
      const found = await Promise.all(portion.map((name) => firstOpen(this.store, this.store.queueOf(name))));
      oldest.push(...found.filter((delivery) => delivery !== undefined));
    }
    return oldest;
  }

  async counts(except: readonly string[] = []): Promise<DeliveryCount[]> {
    const counts: DeliveryCount[] = [];
    const left = new Set(except);
    for (const destination of await this.store.destinations()) {
      if (left.has(destination)) continue;
      const found = await countJobs(this.store.queueOf(destination));
      for (const state of DELIVERY_STATES)
        if (found[state] > 0) counts.push({ destination, state, count: found[state] });
    }
    return counts;
  }

  async keptSince(): Promise<KeptSince[]> {
    const names = await this.store.destinations();
    const found: KeptSince[] = [];
    for (let start = 0; start < names.length; start += PORTION) {
      const portion = names.slice(start, start + PORTION);
      const times = await this.store.keptSince(portion.map((name) => this.store.queueOf(name)));
      for (const [index, since] of times.entries()) {
        if (since !== undefined) found.push({ destination: portion[index]!, since });
      }
    }
    return found;
  }

  async replay(query: ReplayQuery, now: number): Promise<string[]> {
    const isRefused = (query.reason ?? query.reasonStart) === ADDRESS_NOT_ALLOWED;
    const isForAll = Object.keys(query).every((field) =>
      ['destination', 'state', 'reason', 'reasonStart'].includes(field),
    );
    const replayed: string[] = [];
    for (const queue of await this.queuesOf(query)) {
      if (isRefused && !(await this.store.hasRefusals(queue))) continue;
      replayed.push(...(await this.replayIn(queue, query, now)));
      if (!isRefused || !isForAll) continue;
      await this.store.endRefusals(queue);
      replayed.push(...(await this.replayIn(queue, query, now))); // deliveries that died meanwhile
    }
    return replayed;
  }

  async purge(query: CheckedQuery, keepsNotices: boolean): Promise<PurgedSource[]> {
    const all: PurgedSource[] = [];
    for (const queue of await this.queuesOf(query)) {
      for await (const found of find(this.store, queue, query)) {
        const purged = keepsNotices ? found.filter(({ job, state }) => !isOpenNoticeJob(job, state)) : found;
        const ids = purged.map(({ job }) => job.id);
        const removed = await Promise.all(ids.map((id) => removeJob(this.store, queue, id)));
        const leased = purged.filter(({ state }) => state === 'delivering');
        // A process that misses the signal learns of it when it renews the lease.
        if (leased.length > 0) {
          const withdrawn = leased.map(({ job }) => placeOf(queue.destination, job).id);
          this.claims.forget(withdrawn);
          await this.store.signals.sendPurged(withdrawn).catch(() => undefined);
        }
        await this.store.forget(queue, ids);
        all.push(...purged.flatMap(({ job }, index) => (removed[index] ? { source: sourceOf(job), count: 1 } : [])));
      }
    }
    return all;
  }

  async sweep(_retention: Retention, now: number): Promise<SweptRecords> {
    const swept = await this.sweeper.run();
    await this.store.registry.sweep(now);
    return swept;
  }

  async expedite(destination: string): Promise<number> {
    const queue = this.store.queueOf(destination);
    const { waiting } = await countJobs(queue);
    for (let left = waiting; left > 0; left -= PORTION) await queue.backend.promoteJobs(Math.min(left, PORTION));
    if (waiting > 0) await this.store.announce(destination);
    return waiting;
  }

  /** Redis overwrites what is left by itself. */
  scrub(): Promise<void> {
    return Promise.resolve();
  }

  beginClose(): void {}

  async close(): Promise<void> {
    await this.group.idle();
    await this.upkeep.close();
    if (this.owner)
      await this.leases.release([...this.owner.leased(), ...this.claims.takeFetched()]).catch(() => undefined);
    this.owner = undefined;
    await this.store.close();
  }

  private async replayIn(queue: DestinationJobs, query: ReplayQuery, now: number): Promise<string[]> {
    const { backend } = queue;
    const replayed: string[] = [];
    for await (const found of find(this.store, queue, query)) {
      for (const { job, state } of found) {
        try {
          if (state === 'waiting') await backend.promote(job.id);
          else {
            const end = state === 'delivered' ? 'completed' : 'failed';
            // By now, another process may have replayed it, and recorded an attempt in its data.
            if ((await backend.getState(job.id)) !== end) continue;
            if (isReadable(job)) await backend.updateData(job as never, toReplayedData(job, now));
            else await this.store.forgetUnreadable(queue, [job.id]);
            await backend.retryFinishedJob(job as never, end);
          }
          replayed.push(queue.destination);
        } catch (error) {
          if (!isLost(error)) throw error; // already replayed, attempted or purged
        }
      }
    }
    if (replayed.length > 0) await this.store.announce(queue.destination);
    return replayed;
  }

  private get deduplicates(): boolean {
    const { age, count } = this.options.retention.messageIds;
    return age > 0 && count > 0;
  }

  private async writeAdditions(additions: Addition[]): Promise<void> {
    const repeated = await this.write(
      additions.map(({ delivery }) => delivery),
      toJob,
    );
    for (const addition of additions) addition.isRepeated = repeated.has(addition.delivery);
  }

  /** Adds deliveries; skips repeated messages if message ids are remembered, and resolves with them. */
  private async write<T extends NewDelivery>(
    deliveries: T[],
    convert: (delivery: T, deduplicates: boolean, searched: SearchedFields) => NewJob,
  ): Promise<Set<T>> {
    const { deduplicates } = this;
    const lists = Array.from(byDestination(deliveries), ([destination, list]) => ({
      queue: this.store.queueOf(destination),
      list,
      jobs: list.map((delivery) => convert(delivery, deduplicates, this.searched)),
    }));
    const known = await this.store.add(lists, deduplicates ? this.options.retention.messageIds.age : 0);
    for (const { queue, list } of lists) this.claims.expect(queue.destination, list);
    if (known.size === 0) return new Set();
    return new Set(lists.flatMap(({ list, jobs }) => list.filter((_, index) => known.has(jobs[index]!))));
  }

  /** Returns the queues that may hold deliveries matching a query. */
  private async queuesOf({ destination }: CheckedQuery): Promise<DestinationJobs[]> {
    const names = destination === undefined ? await this.store.destinations() : [destination];
    return names.map((name) => this.store.queueOf(name));
  }
}

/** Groups deliveries by destination, in their order. */
function byDestination<T extends NewDelivery>(deliveries: T[]): Map<string, T[]> {
  const lists = new Map<string, T[]>();
  for (const delivery of deliveries) {
    const list = lists.get(delivery.destination);
    if (list) list.push(delivery);
    else lists.set(delivery.destination, [delivery]);
  }
  return lists;
}
