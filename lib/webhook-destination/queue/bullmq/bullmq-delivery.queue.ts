import { randomUUID } from 'node:crypto';

import type { JobType } from 'bullmq';
import { map, Observable, type Subscriber } from 'rxjs';

import { RelayError } from '../../../client/relay.error.js';
import type {
  DeliveryCount,
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  Lease,
  NewDelivery,
} from '../delivery-queue.interface.js';
import { type CheckedQuery, checkPage, checkQuery } from '../query.util.js';
import type { RegistryStore } from '../registry-store.interface.js';
import type { Retention } from '../retention.options.js';
import { SteadyClock } from '../steady-clock.js';
import { AddGroup } from '../shared/add-group.js';
import { DestinationConsumer } from './destination.consumer.js';
import { type NewJob, toJob, toQueueName, toReplayedData, toTakenJob } from './job.codec.js';
import { find, listRecords, STATES, TYPES } from './job.finder.js';
import { isLost, JobLeases, removeJob } from './job-leases.js';
import { promoteJobs } from './promotion.js';
import type { SharedQueue, TakenDelivery } from '../shared/shared-queue.interface.js';
import { RefusalNotes } from './refusal-notes.js';
import { removeJobs, sweepJobs } from './retention-sweep.js';
import type { DestinationJobs, SharedStore } from './shared-store.interface.js';

/** How long an acceptance waits for the store, in ms. */
const ADD_TIMEOUT = 10_000;

/** What this process keeps of a destination. */
interface OpenQueue extends DestinationJobs {
  /** Whether the store knows the destination. */
  isKnown: boolean;
  consumer: DestinationConsumer | undefined;
}

/** The queue that many processes share: each destination is a BullMQ queue, each delivery a job. */
export class BullmqDeliveryQueue implements SharedQueue {
  readonly registry: RegistryStore;
  /** What this process locks its jobs with. */
  private readonly token = randomUUID();
  /** Each is made once: a backend adds listeners to the connection that it shares. */
  private readonly queues = new Map<string, OpenQueue>();
  private readonly clock = new SteadyClock();
  /** Those that have jobs in flight included, though nobody consumes any more. */
  private readonly consumers = new Set<DestinationConsumer>();
  private readonly group = new AddGroup((deliveries) => this.write(deliveries));
  private readonly refusals: RefusalNotes;

  constructor(
    private readonly store: SharedStore,
    private readonly retention: Retention,
  ) {
    this.registry = store.registry;
    this.refusals = new RefusalNotes(store, retention.dead.age);
  }

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

  async takeOver(deliveries: Readonly<TakenDelivery>[]): Promise<void> {
    for (const [destination, list] of byDestination(deliveries)) await this.writeTo(destination, list, toTakenJob);
  }

  consume(destination: string, concurrency: number, windowBefore = Infinity): Observable<Lease> {
    const leases = new Observable((subscriber: Subscriber<Lease>) => {
      const queue = this.queueOf(destination);
      if (queue.consumer) {
        throw new RelayError('consumer_exists', `destination ${destination} has a consumer already`);
      }
      const consumer = new DestinationConsumer(
        new JobLeases(queue, this.token, this.clock),
        this.store.waiter(queue.queueName),
        concurrency,
        windowBefore,
        subscriber,
        this.clock,
      );
      queue.consumer = consumer;
      this.consumers.add(consumer);
      consumer.start();
      return () => {
        queue.consumer = undefined;
        consumer.stop();
        void consumer.idle().then(() => this.consumers.delete(consumer));
      };
    });
    return leases.pipe(map((lease) => this.refusals.follow(toQueueName(destination), lease)));
  }

  async idle(): Promise<void> {
    await Promise.all([...this.queues.values()].flatMap(({ consumer }) => consumer?.idle() ?? []));
  }

  async list(query: DeliveryQuery, page: DeliveryPage = {}): Promise<DeliveryRecord[]> {
    const checked = checkQuery(query);
    return listRecords(this.store, await this.queuesOf(checked), checked, checkPage(page));
  }

  async counts(except: readonly string[] = []): Promise<DeliveryCount[]> {
    const types = STATES.flatMap((state) => TYPES[state]);
    const counts: DeliveryCount[] = [];
    for (const { destination, backend } of await this.queuesOf({})) {
      if (except.includes(destination)) continue; // PostgreSQL reads all rows of a queue to count them
      const found = await backend.getCounts([...types, 'paused' as JobType]);
      for (const state of STATES) {
        let count = TYPES[state].reduce((sum, type) => sum + found[types.indexOf(type)]!, 0);
        // What somebody has paused with a tool of BullMQ's is queued all the same.
        if (state === 'queued') count += found[types.length]!;
        if (count > 0) counts.push({ destination, state, count });
      }
    }
    return counts;
  }

  async replay(asked: DeliveryQuery): Promise<number> {
    const query = checkQuery(asked);
    const isNoted = this.refusals.concerns(query);
    let count = 0;
    for (const queue of await this.queuesOf(query)) {
      if (isNoted && !(await this.refusals.has(queue.queueName))) continue;
      count += await this.replayIn(queue, query);
      if (!isNoted) continue;
      await this.refusals.remove(queue.queueName);
      count += await this.replayIn(queue, query); // what died meanwhile
    }
    return count;
  }

  async purge(asked: DeliveryQuery): Promise<number> {
    const query = checkQuery(asked);
    let count = 0;
    for (const queue of await this.queuesOf(query)) {
      for await (const found of find(this.store, queue, query)) {
        const jobs = found.map(({ job }) => job);
        const remove = (id: string) => removeJob(queue.backend, id);
        count += await removeJobs(this.store, queue, jobs, this.retention.messageIds.age, remove);
      }
    }
    return count;
  }

  async sweep(): Promise<number> {
    let count = 0;
    for (const queue of await this.queuesOf({})) count += await sweepJobs(this.store, queue, this.retention);
    await this.store.forgetOld?.();
    await this.store.registry.sweep(Date.now());
    return count;
  }

  async expedite(destination: string): Promise<number> {
    let count = 0;
    for (const queue of await this.queuesOf({ destination })) count += await promoteJobs(queue);
    return count;
  }

  async close(): Promise<void> {
    await Promise.all([...this.consumers].map((consumer) => consumer.close()));
    this.consumers.clear();
    this.queues.clear();
    await this.store.close();
  }

  private async replayIn(queue: DestinationJobs, query: CheckedQuery): Promise<number> {
    if ((query.state ?? 'dead') !== 'dead') return 0;
    const now = Date.now();
    let count = 0;
    for await (const found of find(this.store, queue, { ...query, state: 'dead' })) {
      for (const { job } of found) {
        try {
          await queue.backend.updateData(job as never, toReplayedData(job, now));
          await queue.backend.retryFinishedJob(job as never, 'failed');
          count++;
        } catch (error) {
          if (!isLost(error)) throw error; // replayed or purged by somebody else
        }
      }
    }
    return count;
  }

  private get isOnce(): boolean {
    const { age, count } = this.retention.messageIds;
    return age > 0 && count > 0;
  }

  private async write(deliveries: NewDelivery[]): Promise<void> {
    const lists = [...byDestination(deliveries)];
    await Promise.all(lists.map(([destination, list]) => this.writeTo(destination, list, toJob)));
  }

  /** A repeated message is left out: its job is there, or it was noted when the job was removed. */
  private async writeTo<T>(
    destination: string,
    deliveries: T[],
    convert: (delivery: T, isOnce: boolean) => NewJob,
  ): Promise<void> {
    const queue = this.queueOf(destination);
    const { queueName, backend } = queue;
    const { isOnce } = this;
    const jobs = deliveries.map((delivery) => convert(delivery, isOnce));
    const ids = jobs.map(({ jobId }) => jobId);
    const repeated = isOnce ? await this.store.remembered(queueName, ids) : new Set<string>();
    if (!queue.isKnown) {
      await this.store.addDestination(destination);
      queue.isKnown = true;
    }
    await backend.addJobs(jobs.filter(({ jobId }) => !repeated.has(jobId)));
    this.store.noteAdded?.(queueName, jobs.length);
  }

  /** The queues that a query may be about, as the store knows them. */
  private async queuesOf({ destination }: CheckedQuery): Promise<DestinationJobs[]> {
    const all = await this.store.destinations();
    return all.filter((name) => (destination ?? name) === name).map((name) => this.queueOf(name));
  }

  private queueOf(destination: string): OpenQueue {
    let queue = this.queues.get(destination);
    if (!queue) {
      const queueName = toQueueName(destination);
      const backend = this.store.backend(queueName, this.token);
      queue = { destination, queueName, backend, isKnown: false, consumer: undefined };
      this.queues.set(destination, queue);
    }
    return queue;
  }
}

/** In the order in which they come. */
function byDestination<T extends NewDelivery>(deliveries: T[]): Map<string, T[]> {
  const lists = new Map<string, T[]>();
  for (const delivery of deliveries) {
    const list = lists.get(delivery.destination);
    if (list) list.push(delivery);
    else lists.set(delivery.destination, [delivery]);
  }
  return lists;
}
