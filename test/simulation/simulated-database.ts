import type { MemoryStore } from '../../lib/stores/memory/memory.store.js';
import type { Delivery, PurgedSource } from '../../lib/webhook-destination/queue/delivery.interface.js';
import type { CheckedQuery } from '../../lib/webhook-destination/queue/query.util.js';
import type { Retention } from '../../lib/webhook-destination/queue/retention.options.js';
import type {
  Claim,
  Insertion,
  ReplayQuery,
  Settlement,
  StoreBatch,
} from '../../lib/webhook-destination/queue/store/delivery-store.interface.js';
import type { RegistryRecord } from '../../lib/webhook-destination/queue/registry-store.interface.js';
import type { Ledger } from './ledger.js';
import type { Package } from './package-under-test.js';
import type { RelayProcess } from './relay-process.js';
import type { SimulatedStore } from './simulated.store.js';
import type { Machine, Simulation } from './simulation.js';

/** How long the leases of a process last without a renewal, in ms. */
const LEASE_TIME = 15_000;

/** How a database behaves: `doubt` does what it is asked, and then fails. */
export type DatabaseState = 'up' | 'failing' | 'doubt' | 'hanging' | 'unsteady';

/** A process that uses the database, from one opening to the end of its leases. */
interface Session {
  store: SimulatedStore;
  renewedAt: number;
}

/**
 * What survives a process: deliveries, registry, remembered ids. The states of deliveries are those of the memory store;
 * here is what a database adds that processes share: whose a lease is, and when it ends.
 */
export class SimulatedDatabase {
  private condition: DatabaseState = 'up';
  readonly machine: Machine = { name: 'database', clockOffset: 0 };
  readonly memory: MemoryStore;
  private readonly leases = new Map<string, { mark: number; delivery: Delivery; since: number }>();
  /** The session that each leased delivery was handed to. */
  private readonly marks = new WeakMap<Delivery, number>();
  private readonly sessions = new Map<number, Session>();
  private lastMark = 0;

  constructor(
    readonly simulation: Simulation,
    readonly code: Package,
    readonly isShared: boolean,
    readonly retention: Retention,
    readonly maxOpen: number,
    private readonly ledger: Ledger | undefined,
  ) {
    this.memory = new code.MemoryStore(retention.messageIds);
  }

  get state(): DatabaseState {
    return this.condition;
  }

  set state(state: DatabaseState) {
    this.condition = state;
    if (state !== 'up') return;
    // No process could renew its leases meanwhile.
    for (const session of this.sessions.values()) session.renewedAt = this.simulation.now;
  }

  /** Begins a session, and returns its mark. */
  join(store: SimulatedStore): number {
    this.expire();
    if (!this.isShared) for (const mark of this.sessions.keys()) this.leave(mark);
    this.sessions.set(++this.lastMark, { store, renewedAt: this.simulation.now });
    return this.lastMark;
  }

  /** Renews the leases of a session; returns false if they have ended. */
  renew(mark: number): boolean {
    const session = this.sessions.get(mark);
    if (session) session.renewedAt = this.simulation.now;
    this.expire();
    return session !== undefined;
  }

  /** Ends a session and its leases. */
  leave(mark: number): void {
    this.sessions.delete(mark);
    this.free([...this.leases].filter(([, lease]) => lease.mark === mark).map(([id]) => id));
  }

  holds(mark: number, id: string): boolean {
    return this.leases.get(id)?.mark === mark;
  }

  /** Returns the ids of leases of a session that are at least so many ms old. */
  leasedFor(mark: number, age: number): string[] {
    const isOld = (since: number) => this.simulation.now - since >= age;
    return [...this.leases].filter(([, lease]) => lease.mark === mark && isOld(lease.since)).map(([id]) => id);
  }

  /** Ends leases; their deliveries are due. */
  free(ids: string[]): void {
    const names = new Set<string>();
    for (const id of ids) {
      const lease = this.leases.get(id);
      if (!lease) continue;
      this.leases.delete(id);
      this.ledger?.freed(id);
      void this.memory.settle([{ delivery: lease.delivery, outcome: undefined, isInDoubt: false }], 0);
      names.add(lease.delivery.destination);
    }
    this.announce(names);
  }

  async insert(mark: number, batches: StoreBatch[], now: number, beyondLimit: boolean): Promise<Insertion[]> {
    const deliveries = batches.flatMap((batch) => batch.deliveries);
    if (!beyondLimit && (await this.countOpen()) + deliveries.length > this.maxOpen) {
      throw new this.code.QueueFullError('the simulated database is full');
    }
    const isOpen = !this.isShared || this.sessions.has(mark);
    const given = batches.map((batch) => ({ ...batch, leased: batch.leased && isOpen }));
    const inserted = await this.memory.insert(given, now);
    this.ledger?.inserted(deliveries);
    for (const delivery of inserted.flatMap(({ leased }) => leased)) this.lease(mark, delivery);
    const unleased = given.filter(({ leased }) => !leased).map((batch) => batch.deliveries[0]!.destination);
    this.announce(unleased, mark);
    return inserted;
  }

  async claim(mark: number, destination: string, limit: number, now: number): Promise<Claim> {
    if (this.isShared && !this.sessions.has(mark)) return { deliveries: [], more: false, nextDueAt: now + 1_000 };
    const claim = await this.memory.claim(destination, { deliveries: limit, bytes: Infinity }, now);
    // A database returns another object each time.
    const deliveries = claim.deliveries.map((delivery) => ({ ...delivery }));
    for (const delivery of deliveries) this.lease(mark, delivery);
    return { ...claim, deliveries };
  }

  async settle(mark: number, settlements: Settlement[], now: number): Promise<boolean[]> {
    const results: boolean[] = [];
    for (const settlement of settlements) {
      const { delivery, isInDoubt } = settlement;
      // A lease of an earlier session does not count, even if this one has the delivery.
      const isHeld = !this.isShared || (this.marks.get(delivery) === mark && this.holds(mark, delivery.id));
      const [isSettled] = isHeld ? await this.memory.settle([settlement], now) : [false];
      if (isSettled) this.leases.delete(delivery.id);
      if (isSettled) this.ledger?.settled(settlement, this.relayOf(mark));
      results.push(isSettled! || isInDoubt);
    }
    return results;
  }

  async replay(mark: number, query: ReplayQuery, now: number): Promise<string[]> {
    const found = await this.memory.list(query, { limit: 1e9, after: undefined });
    const names = await this.memory.replay(query, now);
    this.ledger?.replayed(found);
    this.announce(names, mark);
    return names;
  }

  async purge(mark: number, query: CheckedQuery, keepsNotices: boolean): Promise<PurgedSource[]> {
    const all = { limit: 1e9, after: undefined };
    const before = await this.memory.list(query, all);
    const purged = await this.memory.purge(query, keepsNotices);
    const kept = new Set((await this.memory.list(query, all)).map(({ id }) => id));
    const ids = before.map(({ id }) => id).filter((id) => !kept.has(id));
    for (const id of ids) this.leases.delete(id);
    this.ledger?.purged(before.filter(({ id }) => !kept.has(id)));
    this.tell(mark, 0, ({ owner }) => owner?.purged(ids));
    return purged;
  }

  async sweep(retention: Retention, now: number) {
    const before = await this.memory.counts();
    const swept = await this.memory.sweep(retention, now);
    if (swept.surplus.length > 0) this.ledger?.swept(before, await this.memory.counts(), swept.surplus);
    return swept;
  }

  async writeRegistry(mark: number, record: Omit<RegistryRecord, 'revision'>, expected: number) {
    const revision = await this.memory.registry.write(record, expected);
    if (revision !== undefined) this.tell(mark, 0, (store) => store.registryChanged.next());
    return revision;
  }

  /** Names of the destinations with a delivery that is due. */
  async due(now: number): Promise<string[]> {
    return (await this.memory.oldest()).filter(({ dueAt = 0 }) => dueAt <= now).map(({ destination }) => destination);
  }

  async countOpen(): Promise<number> {
    const counts = await this.memory.counts();
    return counts.reduce((sum, { state, count }) => sum + (state === 'delivered' || state === 'dead' ? 0 : count), 0);
  }

  private lease(mark: number, delivery: Delivery): void {
    this.leases.set(delivery.id, { mark, delivery, since: this.simulation.now });
    this.marks.set(delivery, mark);
    this.ledger?.leased(delivery, this.relayOf(mark));
  }

  private relayOf(mark: number): RelayProcess | undefined {
    return this.sessions.get(mark)?.store.process as RelayProcess | undefined;
  }

  private expire(): void {
    for (const [mark, { renewedAt }] of this.sessions) {
      if (this.simulation.now - renewedAt >= LEASE_TIME) this.leave(mark);
    }
  }

  private announce(names: Iterable<string>, except?: number): void {
    const distinct = [...new Set(names)];
    if (distinct.length > 0) this.tell(except, 0, (store) => distinct.forEach((name) => store.dueNames.next(name)));
  }

  /** Signals to the other processes; a signal may be lost. */
  private tell(except: number | undefined, delay: number, signal: (store: SimulatedStore) => void): void {
    for (const [mark, { store }] of this.sessions) {
      if (mark === except || !this.isShared || this.state !== 'up') continue;
      this.simulation.after(delay + store.latency(), store.process, 'answer', () => signal(store));
    }
  }
}
