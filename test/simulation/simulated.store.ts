import { Observable, Subject } from 'rxjs';

import type {
  DeliveryCount,
  PurgedSource,
  QueueCondition,
} from '../../lib/webhook-destination/queue/delivery.interface.js';
import type { CheckedSearch } from '../../lib/webhook-destination/queue/delivery-search.js';
import type { CheckedPage, CheckedQuery } from '../../lib/webhook-destination/queue/query.util.js';
import type { RegistryStore } from '../../lib/webhook-destination/queue/registry-store.interface.js';
import type { Retention } from '../../lib/webhook-destination/queue/retention.options.js';
import type { LogStore } from '../../lib/webhook-destination/queue/log-store.interface.js';
import type { SeriesRecord, SeriesStore } from '../../lib/webhook-destination/queue/series-store.interface.js';
import type {
  ClaimLimit,
  DeliveryStore,
  Insertion,
  MessageKey,
  ReplayQuery,
  Settlement,
  StoreBatch,
  StoreOwner,
} from '../../lib/webhook-destination/queue/store/delivery-store.interface.js';
import type { DatabaseState, SimulatedDatabase } from './simulated-database.js';
import type { RelayProcess } from './relay-process.js';
import type { SimulatedProcess } from './simulation.js';

const UPKEEP_INTERVAL = 5_000;

/** Time between attempts to reopen an embedded store after a failure, in ms. */
const REOPENING_INTERVAL = 1_000;

/** Time since the last renewal after which another process may have ended the leases, in ms. */
const SILENCE = 12_500;

/** Age of a lease from which on its process should know of it, in ms: the answer that granted it was lost. */
const UNKNOWN_AGE = 20_000;

/** Time limit of a call that is not answered, in ms. */
const CALL_TIMEOUT = 10_000;

/** The connection of one process to the database: what it asks arrives late, in order, and possibly not at all. */
export class SimulatedStore implements DeliveryStore {
  readonly isShared = this.database.isShared;
  readonly fullTurn = this.isShared ? 1 : Infinity;
  readonly transactions = undefined;
  readonly peers = undefined;
  readonly dueNames = new Subject<string>();
  readonly registryChanged = new Subject<void>();
  readonly due$ = new Observable<string>((subscriber) => {
    if (!this.isShared) return;
    subscriber.add(this.dueNames.subscribe(subscriber));
    const tell = (names: string[]) => names.forEach((name) => subscriber.next(name));
    void this.call(() => this.database.due(this.now())).then(tell, () => undefined);
  });
  readonly registry: RegistryStore;
  readonly series: SeriesStore;
  readonly logs: LogStore;
  owner: StoreOwner | undefined;
  private mark = 0;
  private renewedAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private lastArrival = 0;
  private isOpen = false;
  private isClosing = false;
  private lastReply = 0;
  /** Number of calls in progress. */
  private pending = 0;
  /** Whether a call may have been granted leases and was not answered. */
  private isInDoubt = false;

  constructor(
    private readonly database: SimulatedDatabase,
    readonly process: SimulatedProcess,
    private readonly relay?: Pick<RelayProcess, 'learned' | 'written'>,
  ) {
    const { registry, series, logs } = database.memory;
    this.registry = {
      read: async (after) => {
        const records = await this.call(() => registry.read(after));
        this.relay?.learned(records);
        return records;
      },
      write: async (record, expected) => {
        const revision = await this.call(() => database.writeRegistry(this.mark, record, expected));
        if (revision !== undefined) this.relay?.written.set(record.name, { ...record, revision });
        return revision;
      },
      ...(this.isShared && {
        changed$: new Observable<void>((subscriber) => {
          subscriber.add(this.registryChanged.subscribe(subscriber));
          database.simulation.after(this.latency(), process, 'answer', () => subscriber.next());
        }),
      }),
    };
    this.series = {
      write: (records: SeriesRecord[], oldest: number) => this.call(() => series.write(records, oldest)),
      read: (name: string, from: number, to: number) => this.call(() => series.read(name, from, to)),
    };
    this.logs = {
      write: (log, records) => this.call(() => logs.write(log, records)),
      update: (log, records) => this.call(() => logs.update(log, records)),
      read: (log, limit, before) => this.call(() => logs.read(log, limit, before)),
      find: (log, ids) => this.call(() => logs.find(log, ids)),
      remove: (log, ids) => this.call(() => logs.remove(log, ids)),
      names: (start) => this.call(() => logs.names(start)),
      removeOld: (now, most) => this.call(() => logs.removeOld(now, most)),
    };
  }

  now(): number {
    const { simulation, machine } = this.database;
    return simulation.timeOf(this.isShared ? machine : this.process.machine);
  }

  holdsLeases(): boolean {
    return !this.isShared || performance.now() - this.renewedAt < SILENCE;
  }

  async open(owner: StoreOwner): Promise<void> {
    this.owner = owner;
    this.isOpen = true;
    this.isClosing = false;
    try {
      await this.join();
    } catch (error) {
      this.isOpen = false;
      throw error;
    }
    const keepUp = () => (this.isShared ? this.keepUp() : this.reopen());
    const interval = this.isShared ? UPKEEP_INTERVAL : REOPENING_INTERVAL;
    this.timer = setInterval(() => void keepUp().catch(() => undefined), interval);
  }

  insert(batches: StoreBatch[], now: number, beyondLimit: boolean): Promise<Insertion[]> {
    return this.call(() => this.database.insert(this.mark, batches, this.isShared ? this.now() : now, beyondLimit));
  }

  remembers(message: MessageKey, destinations: readonly string[], now: number): Promise<string[]> {
    return this.call(() => this.database.memory.remembers(message, destinations, now));
  }

  claim(destination: string, { deliveries }: ClaimLimit, now: number) {
    return this.call(() => this.database.claim(this.mark, destination, deliveries, now));
  }

  settle(settlements: Settlement[], now: number): Promise<boolean[]> {
    return this.call(() => this.database.settle(this.mark, settlements, now));
  }

  list(query: CheckedQuery, page: CheckedPage) {
    return this.call(() => this.database.memory.list(query, page));
  }

  search(search: CheckedSearch, page: CheckedPage) {
    return this.database.code.searchByList(this, search, page);
  }

  check(): Promise<QueueCondition> {
    return this.call(() => this.database.memory.check());
  }

  oldest() {
    return this.call(() => this.database.memory.oldest());
  }

  counts(): Promise<DeliveryCount[]> {
    return this.call(() => this.database.memory.counts());
  }

  keptSince() {
    return this.call(() => this.database.memory.keptSince());
  }

  replay(query: ReplayQuery, now: number): Promise<string[]> {
    return this.call(() => this.database.replay(this.mark, query, now));
  }

  expedite(destination: string, now: number): Promise<number> {
    return this.call(() => this.database.memory.expedite(destination, now));
  }

  purge(query: CheckedQuery, keepsNotices: boolean): Promise<PurgedSource[]> {
    return this.call(() => this.database.purge(this.mark, query, keepsNotices));
  }

  scrub(): Promise<void> {
    return this.call(() => this.database.memory.scrub());
  }

  sweep(retention: Retention, now: number) {
    return this.call(() => this.database.sweep(retention, now));
  }

  beginClose(): void {
    this.isClosing = true;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    // The last call: an embedded database has then answered all that came before.
    const end = () => Promise.resolve(this.isShared && this.database.leave(this.mark));
    if (this.isOpen) await this.call(end).catch(() => undefined);
    this.isOpen = false;
    this.renewedAt = -Infinity;
  }

  latency(): number {
    const { random } = this.database.simulation;
    return random.chance(0.05) ? random.next() * 300 : random.next() * 3;
  }

  /** Begins a session; what was leased in the one before is withdrawn. */
  private async join(): Promise<void> {
    const start = performance.now();
    this.mark = await this.call(async () => {
      const mark = this.database.join(this);
      if (!this.isShared) await this.database.memory.open();
      return mark;
    });
    if (this.isShared) this.owner!.withdrawn(this.owner!.leased());
    this.hold(start);
  }

  /** Renews the leases, ends those that were granted without this process's knowledge, and learns what is due. */
  private async keepUp(): Promise<void> {
    const start = performance.now();
    const { isAlive, old, due } = await this.call(async () => ({
      isAlive: this.database.renew(this.mark),
      old: this.database.leasedFor(this.mark, UNKNOWN_AGE),
      due: await this.database.due(this.now()),
    }));
    if (isAlive) this.hold(start);
    else await this.join();
    for (const name of due) this.dueNames.next(name);
    const held = new Set(this.owner!.leased());
    const unknown = old.filter((id) => !held.has(id));
    if (unknown.length > 0) await this.call(() => Promise.resolve(this.database.free(unknown)));
  }

  /** Ends the leases of an embedded store that its process was granted without its knowledge, as reopening it does. */
  private async reopen(): Promise<void> {
    // It fails the calls in progress; here, it waits for them.
    if (!this.isInDoubt || this.pending > 0) return;
    this.isInDoubt = false;
    try {
      await this.call(() => {
        const held = new Set(this.owner!.leased());
        this.database.free(this.database.leasedFor(this.mark, 0).filter((id) => !held.has(id)));
        return Promise.resolve();
      });
    } catch {
      this.isInDoubt = true;
      return;
    }
    this.owner!.reopened();
  }

  private hold(renewedAt: number): void {
    const wereHeld = this.holdsLeases();
    this.renewedAt = Math.max(this.renewedAt, renewedAt);
    if (!wereHeld && this.holdsLeases()) this.owner?.resumed();
  }

  /** Asks the database. An embedded one lives and freezes with its process. */
  private call<T>(effect: () => Promise<T>): Promise<T> {
    const { simulation, code } = this.database;
    const server = this.isShared ? undefined : this.process;
    if (!this.isOpen) return Promise.reject(new code.ClosedError('the queue is closed'));
    this.pending++;
    return new Promise<T>((resolve, reject) => {
      const arrival = Math.max(simulation.now + this.latency(), this.lastArrival);
      this.lastArrival = arrival;
      simulation.after(arrival - simulation.now, server, 'answer', () => {
        const state = this.stateNow();
        const reply = (delay: number, run: () => void) => {
          const at = simulation.now + delay;
          // A thread answers in order; the connections of a pool do not.
          this.lastReply = this.isShared ? at : Math.max(at, this.lastReply);
          simulation.after(this.lastReply - simulation.now, this.process, 'answer', () => {
            this.pending--;
            run();
          });
        };
        const fail = (error: Error) => reply(this.latency(), () => reject(error));
        const unavailable = new code.QueueUnavailableError(`the simulated database is ${state}`);
        if (state === 'failing') return fail(unavailable);
        const isLost = state === 'hanging';
        if (isLost && simulation.random.chance(0.5)) return reply(this.timeLimit, () => reject(unavailable));
        effect().then(
          (value) => {
            if (isLost || state === 'doubt') this.isInDoubt = true;
            if (isLost) reply(this.timeLimit, () => reject(unavailable));
            else if (state === 'doubt') fail(unavailable);
            else reply(this.latency(), () => resolve(value));
          },
          (error: Error) => fail(error),
        );
      });
    });
  }

  private get timeLimit(): number {
    return this.isClosing ? 1_000 : CALL_TIMEOUT;
  }

  private stateNow(): DatabaseState {
    const { state, simulation } = this.database;
    if (state !== 'unsteady') return state;
    return simulation.random.pick(['up', 'up', 'up', 'failing', 'doubt', 'hanging'] as const);
  }
}
