import { LineLogger } from '../../../common/line.logger.js';
import type {
  Delivery,
  DeliveryCount,
  DeliveryPage,
  DeliveryRecord,
  DeliveryState,
  OldestDelivery,
  QueueCondition,
} from '../delivery-queue.interface.js';
import { toDelivery } from '../delivery.factory.js';
import {
  type Claim,
  type ClaimLimit,
  type DeliveryStore,
  firstAttemptAt,
  type Settlement,
  type StoreBatch,
} from '../store/delivery-store.interface.js';
import { type CheckedQuery, matches } from '../query.util.js';
import type { Retention, RetentionBound } from '../retention.options.js';
import { AcceptedMessages } from './accepted-messages.js';
import { DueList, type Entry } from './due-list.js';
import { MemoryRegistryStore } from './memory-registry.store.js';
import { MemorySeriesStore } from './memory-series.store.js';

/** Deliveries in memory, for tests. */
export class MemoryStore implements DeliveryStore {
  readonly registry = new MemoryRegistryStore();
  readonly series = new MemorySeriesStore();
  private readonly logger = new LineLogger('MemoryQueue');
  /** By id, oldest first. */
  private readonly entries = new Map<string, Entry>();
  private readonly due = new Map<string, DueList>();
  private readonly accepted = new AcceptedMessages(this.messageIds);
  private lastId = 0;

  constructor(private readonly messageIds: Required<RetentionBound>) {}

  /** Deliveries that were leased before the queue was closed are due again. */
  open(): Promise<void> {
    this.logger.warn('Deliveries are kept in memory only and are lost when the process ends: use this queue for tests');
    for (const entry of this.find({ state: 'delivering' })) {
      entry.delivery = { ...entry.delivery, firstAttemptAt: entry.delivery.firstAttemptAt ?? entry.leasedAt };
      this.makeDue(entry, 'waiting');
    }
    return Promise.resolve();
  }

  insert(batches: StoreBatch[], now: number): Promise<Delivery[][]> {
    const inserted = batches.map(({ deliveries, leased }) => {
      const accepted = this.accepted.add(deliveries, now);
      const added = accepted.map((delivery) => toDelivery(delivery, String(++this.lastId)));
      for (const delivery of added) {
        const entry: Entry = {
          delivery,
          state: 'delivering',
          dueAt: delivery.acceptedAt,
          leasedAt: leased ? now : undefined,
          reason: undefined,
          lastAttempt: undefined,
          settledAt: 0,
        };
        this.entries.set(delivery.id, entry);
        if (!leased) this.makeDue(entry, 'queued');
      }
      return leased ? added : [];
    });
    return Promise.resolve(inserted);
  }

  claim(destination: string, { deliveries: limit, windowBefore }: ClaimLimit, now: number): Promise<Claim> {
    const due = this.dueOf(destination);
    const claimed = due.take(limit, now, windowBefore);
    for (const entry of claimed) {
      entry.state = 'delivering';
      entry.leasedAt = now;
    }
    const more = claimed.length === limit;
    const nextDueAt = more ? undefined : due.next?.dueAt;
    return Promise.resolve({ deliveries: claimed.map(({ delivery }) => delivery), more, nextDueAt });
  }

  settle(settlements: Settlement[], now: number): Promise<boolean[]> {
    return Promise.resolve(settlements.map((settlement) => this.settleOne(settlement, now)));
  }

  list(query: CheckedQuery, { limit = 100, after = 'Infinity' }: DeliveryPage): Promise<DeliveryRecord[]> {
    const matching = this.find(query).filter(({ delivery: { id } }) => Number(id) < Number(after));
    const page = matching.slice(-limit || matching.length).reverse();
    const records = page.map(({ delivery, lastAttempt, state, dueAt, reason }) => ({
      ...delivery,
      ...(lastAttempt && {
        firstAttemptAt: delivery.firstAttemptAt ?? lastAttempt.startedAt,
        attempts: [...delivery.attempts, lastAttempt],
      }),
      body: delivery.body.toString(),
      state,
      nextAttemptAt: isWaiting(state) ? dueAt : undefined,
      reason,
    }));
    return Promise.resolve(records);
  }

  check(): Promise<QueueCondition> {
    return Promise.resolve({ isFull: false, freeDisk: undefined });
  }

  oldest(): Promise<OldestDelivery[]> {
    const oldest = new Map<string, OldestDelivery>();
    for (const { delivery, state } of this.entries.values()) {
      const { destination, acceptedAt } = delivery;
      if (isWaiting(state) && !oldest.has(destination)) oldest.set(destination, { destination, acceptedAt });
    }
    return Promise.resolve([...oldest.values()]);
  }

  counts(): Promise<DeliveryCount[]> {
    const counts = new Map<string, DeliveryCount>();
    for (const { delivery, state } of this.entries.values()) {
      const { destination } = delivery;
      const key = `${state} ${destination}`;
      counts.set(key, { destination, state, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    return Promise.resolve([...counts.values()]);
  }

  replay(query: CheckedQuery, now: number): Promise<string[]> {
    const dead = this.find(query).filter(({ state }) => state === 'dead');
    for (const entry of dead) {
      entry.delivery = { ...entry.delivery, firstAttemptAt: now, failedUrls: [] };
      entry.reason = undefined;
      entry.dueAt = now;
      this.makeDue(entry, 'queued');
    }
    return Promise.resolve(dead.map(({ delivery }) => delivery.destination));
  }

  expedite(destination: string, now: number): Promise<number> {
    const isLate = ({ dueAt, state }: Entry) => state === 'waiting' && dueAt > now;
    const late = this.find({ destination }).filter(isLate);
    this.dueOf(destination).keep((entry) => !isLate(entry));
    for (const entry of late) {
      entry.dueAt = now;
      this.makeDue(entry, 'waiting');
    }
    return Promise.resolve(late.length);
  }

  purge(query: CheckedQuery): Promise<number> {
    return Promise.resolve(this.remove(this.find(query)));
  }

  scrub(): Promise<void> {
    return Promise.resolve();
  }

  sweep(retention: Retention, now: number): Promise<number> {
    this.accepted.forget(now);
    this.registry.sweep(now);
    const past = (['delivered', 'dead'] as const).flatMap((state) => {
      const { age, count } = retention[state];
      const ended = this.find({ state });
      return ended.filter(({ settledAt }, index) => index < ended.length - count || settledAt <= now - age);
    });
    return Promise.resolve(this.remove(past));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private settleOne(settlement: Settlement, now: number): boolean {
    const { delivery, outcome } = settlement;
    const entry = this.entries.get(delivery.id);
    if (entry?.state !== 'delivering') return false;
    const { attempts } = delivery;
    entry.lastAttempt = outcome?.state === 'delivered' ? outcome.attempt : undefined;
    if (!entry.lastAttempt) {
      entry.delivery = {
        ...delivery,
        firstAttemptAt: firstAttemptAt(settlement, now),
        attempts: outcome?.attempt ? [...attempts, outcome.attempt] : attempts,
        failedUrls: outcome && 'failedUrls' in outcome ? outcome.failedUrls : delivery.failedUrls,
      };
    }
    entry.settledAt = now;
    if (outcome?.state === 'dead') entry.reason = outcome.reason;
    if (outcome?.state === 'waiting') entry.dueAt = outcome.nextAttemptAt;
    const state = outcome?.state ?? (attempts.length === 0 ? 'queued' : 'waiting');
    if (isWaiting(state)) this.makeDue(entry, state);
    else entry.state = state;
    return true;
  }

  /** Returns matching entries, oldest first. */
  private find(query: CheckedQuery): Entry[] {
    const isMatch = ({ delivery, state, reason }: Entry) => matches(query, delivery, state, reason);
    return [...this.entries.values()].filter(isMatch);
  }

  private remove(entries: Entry[]): number {
    for (const { delivery } of entries) this.entries.delete(delivery.id);
    for (const destination of new Set(entries.map(({ delivery }) => delivery.destination))) {
      this.dueOf(destination).keep(({ delivery }) => this.entries.has(delivery.id));
    }
    return entries.length;
  }

  /** Sets the state of an entry and adds it to the due list of its destination. */
  private makeDue(entry: Entry, state: DeliveryState): void {
    entry.state = state;
    this.dueOf(entry.delivery.destination).add(entry);
  }

  private dueOf(destination: string): DueList {
    let due = this.due.get(destination);
    if (!due) this.due.set(destination, (due = new DueList()));
    return due;
  }
}

function isWaiting(state: DeliveryState): boolean {
  return state === 'queued' || state === 'waiting';
}
