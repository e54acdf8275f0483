import { Observable, type Subscriber } from 'rxjs';

import { RelayError } from '../../../client/relay.error.js';
import {
  ADDRESS_NOT_ALLOWED,
  DELIVERY_STATES,
  type DeliveryCount,
  type DeliveryPage,
  type DeliveryQuery,
  type DeliveryRecord,
  type Lease,
  type NewDelivery,
  type OldestDelivery,
  type QueueCondition,
  type SweptRecords,
  UNLIMITED,
} from '../delivery-queue.interface.js';
import { type CheckedQuery, checkPage, checkQuery } from '../query.util.js';
import type { PeerChannel } from '../peer-channel.interface.js';
import type { RegistryStore } from '../registry-store.interface.js';
import type { SeriesStore } from '../series-store.interface.js';
import { SteadyClock } from '../steady-clock.js';
import { CallGroup } from '../shared/call-group.js';
import type { SharedQueueOptions } from '../shared/shared-queue.options.js';
import type { SharedQueue, TakenDelivery } from '../shared/shared-queue.interface.js';
import { ConsumerUpkeep } from './consumer.upkeep.js';
import { DestinationConsumer } from './destination.consumer.js';
import { isOpenNoticeJob, isReadable, type NewJob, toJob, toReplayedData, toTakenJob } from './job.codec.js';
import { countJobs, find, firstOpen, listRecords } from './job.finder.js';
import { isLost, JobLeases, removeJob } from './job-leases.js';
import { type DestinationJobs, RedisStore } from './redis.store.js';
import { RetentionSweep } from './retention-sweep.js';

/** Maximum wait for Redis when adding deliveries, in ms. */
const ADD_TIMEOUT = 10_000;

/** Jobs made due with one command, which blocks Redis. */
const PORTION = 1_000;

/** Destinations whose oldest delivery is looked up concurrently; few, because leases use the same connection. */
const SIDE_BY_SIDE = 50;

/** The queue in Redis that many processes share: each destination is a BullMQ queue, each delivery a job. */
export class BullmqDeliveryQueue implements SharedQueue {
  private readonly store = new RedisStore(this.options);
  private readonly upkeep = new ConsumerUpkeep(this.store);
  readonly registry: RegistryStore = this.store.registry;
  readonly series: SeriesStore = this.store.series;
  readonly peers: PeerChannel = this.store.signals;
  readonly due$ = this.upkeep.due$;
  private readonly clock = new SteadyClock();
  private readonly sweeper = new RetentionSweep(this.store, this.options.retention);
  private readonly group = new CallGroup<NewDelivery>((deliveries) => this.write(deliveries, toJob));

  constructor(private readonly options: SharedQueueOptions) {}

  now(): number {
    return this.clock.now();
  }

  open(): Promise<void> {
    return this.store.open();
  }

  add(deliveries: NewDelivery[]): Promise<void> {
    if (deliveries.length === 0) return Promise.resolve();
    return this.group.add(deliveries, ADD_TIMEOUT);
  }

  takeOver(deliveries: Readonly<TakenDelivery>[]): Promise<void> {
    return this.write(deliveries, toTakenJob);
  }

  consume(destination: string, concurrency: number): Observable<Lease> {
    return new Observable((subscriber: Subscriber<Lease>) => {
      if (this.upkeep.has(destination)) {
        throw new RelayError('consumer_exists', `destination ${destination} has a consumer already`);
      }
      const leases = new JobLeases(destination, this.store, this.clock);
      const consumer = new DestinationConsumer(leases, subscriber, this.clock, concurrency);
      this.upkeep.add(consumer);
      return () => void this.upkeep.end(consumer);
    });
  }

  idle(): Promise<void> {
    return this.upkeep.idle();
  }

  async list(query: DeliveryQuery, page: DeliveryPage = {}): Promise<DeliveryRecord[]> {
    const checked = checkQuery(query);
    return listRecords(this.store, await this.queuesOf(checked), checked, checkPage(page));
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

  async replay(asked: DeliveryQuery): Promise<number> {
    const query = checkQuery(asked);
    const isNoted = query.reason === ADDRESS_NOT_ALLOWED;
    const isForAll = Object.keys(query).every((field) => ['destination', 'state', 'reason'].includes(field));
    let count = 0;
    for (const queue of await this.queuesOf(query)) {
      if (isNoted && !(await this.store.hasRefusals(queue))) continue;
      count += await this.replayIn(queue, query);
      if (!isNoted || !isForAll) continue;
      await this.store.endRefusals(queue);
      count += await this.replayIn(queue, query); // deliveries that died meanwhile
    }
    return count;
  }

  async purge(asked: DeliveryQuery, keepsNotices = false): Promise<number> {
    const query = checkQuery(asked);
    let count = 0;
    for (const queue of await this.queuesOf(query)) {
      for await (const found of find(this.store, queue, query)) {
        const purged = keepsNotices ? found.filter(({ job, state }) => !isOpenNoticeJob(job, state)) : found;
        const ids = purged.map(({ job }) => job.id);
        const removed = await Promise.all(ids.map((id) => removeJob(queue.backend, id)));
        await this.store.forget(queue, ids);
        count += removed.filter((isRemoved) => isRemoved).length;
      }
    }
    return count;
  }

  async sweep(): Promise<SweptRecords> {
    const swept = await this.sweeper.run();
    await this.store.registry.sweep(Date.now());
    return swept;
  }

  async expedite(destination: string): Promise<number> {
    const queue = this.store.queueOf(destination);
    const { waiting } = await countJobs(queue);
    for (let left = waiting; left > 0; left -= PORTION) await queue.backend.promoteJobs(Math.min(left, PORTION));
    if (waiting > 0) await this.announce(destination);
    return waiting;
  }

  async close(): Promise<void> {
    await this.upkeep.close();
    await this.store.close();
  }

  private async replayIn(queue: DestinationJobs, query: CheckedQuery): Promise<number> {
    if ((query.state ?? 'dead') !== 'dead') return 0;
    const now = this.now();
    let count = 0;
    for await (const found of find(this.store, queue, { ...query, state: 'dead' })) {
      for (const { job } of found) {
        try {
          if (isReadable(job)) await queue.backend.updateData(job as never, toReplayedData(job, now));
          else await this.store.forgetUnreadable(queue, [job.id]);
          await queue.backend.retryFinishedJob(job as never, 'failed');
          count++;
        } catch (error) {
          if (!isLost(error)) throw error; // already replayed or purged
        }
      }
    }
    if (count > 0) await this.announce(queue.destination);
    return count;
  }

  /** Adds deliveries; skips repeated messages if message ids are remembered. */
  private async write<T extends NewDelivery>(
    deliveries: T[],
    convert: (delivery: T, deduplicates: boolean) => NewJob,
  ): Promise<void> {
    const { age, count } = this.options.retention.messageIds;
    const deduplicates = age > 0 && count > 0;
    const lists = byDestination(deliveries);
    const jobs = Array.from(lists, ([destination, list]) => ({
      queue: this.store.queueOf(destination),
      jobs: list.map((delivery) => convert(delivery, deduplicates)),
    }));
    await this.store.add(jobs, deduplicates ? age : 0);
    this.upkeep.wake([...lists.keys()]);
  }

  /** Notifies this process and all others that a destination has due deliveries. */
  private async announce(destination: string): Promise<void> {
    await this.store.announce(destination);
    this.upkeep.wake([destination]);
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
