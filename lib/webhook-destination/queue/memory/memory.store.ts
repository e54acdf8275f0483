import { LineLogger } from '../../../common/line.logger.js';
import type {
  Delivery,
  DeliveryCount,
  DeliveryPage,
  DeliveryRecord,
  DeliveryState,
  NewDelivery,
} from '../delivery-queue.interface.js';
import {
  type Claim,
  type ClaimLimit,
  type DeliveryStore,
  firstAttemptAt,
  type Settlement,
  type StoreBatch,
  toDelivery,
} from '../embedded/delivery-store.interface.js';
import type { AttemptRecord } from '../attempt.record.js';
import { type CheckedQuery, matchesMessage } from '../query.check.js';
import type { Retention, RetentionBound } from '../retention.options.js';
import { DueList } from './due.list.js';
import { MessageIdMemory } from './message-id.memory.js';

/** A delivery and the state it is in. */
interface MemoryEntry {
  /** Never changed: who has leased it reads it. */
  delivery: Delivery;
  /** The attempt that delivered it. */
  lastAttempt: AttemptRecord | undefined;
  state: DeliveryState;
  /** When it falls due, in ms since the epoch. */
  dueAt: number;
  /** When it was leased first, in ms since the epoch; a window that did not start otherwise starts there. */
  leasedAt: number | undefined;
  reason: string | undefined;
  /** When it was delivered or died, in ms since the epoch. */
  endedAt: number;
}

/** Deliveries that were accepted together, with ids one after the other. */
interface MemoryBatch {
  deliveries: NewDelivery[];
  firstId: number;
}

/** Deliveries in memory. */
export class MemoryStore implements DeliveryStore {
  private readonly logger = new LineLogger('MemoryQueue');
  /** By id. */
  private readonly entries = new Map<number, MemoryEntry>();
  /** What was never leased and has no entries yet, by destination, the oldest first. */
  private readonly backlogs = new Map<string, MemoryBatch[]>();
  /** What else can be claimed, by destination. */
  private readonly due = new Map<string, DueList<MemoryEntry>>();
  private readonly messageIds: MessageIdMemory;
  private lastId = 0;

  constructor(messageIds: Required<RetentionBound>) {
    this.messageIds = new MessageIdMemory(messageIds);
  }

  /** What a run before this one had leased is due again. */
  open(): Promise<void> {
    this.logger.warn('Deliveries are kept in memory only, and lost when the process ends: use it for tests');
    for (const entry of this.entries.values()) {
      if (entry.state !== 'delivering') continue;
      entry.delivery = { ...entry.delivery, firstAttemptAt: entry.delivery.firstAttemptAt ?? entry.leasedAt };
      this.makeDue(entry, 'waiting');
    }
    return Promise.resolve();
  }

  insert(batches: StoreBatch[], now: number): Promise<Delivery[][]> {
    return Promise.resolve(
      batches.map(({ deliveries, leased }) => {
        const fresh = this.messageIds.takeNew(deliveries, now);
        const batch = { deliveries: fresh, firstId: this.lastId + 1 };
        this.lastId += fresh.length;
        if (leased) return this.unpack(batch, now).map(({ delivery }) => delivery);
        if (fresh.length > 0) this.backlogOf(fresh[0]!.destination).push(batch);
        return [];
      }),
    );
  }

  claim(destination: string, { deliveries: limit, acceptedBefore }: ClaimLimit, now: number): Promise<Claim> {
    const due = this.due.get(destination);
    // What has a window running comes first.
    const entries = due?.take(limit, now, ({ delivery }) => delivery.acceptedAt <= acceptedBefore) ?? [];
    const backlog = this.backlogOf(destination);
    const hasMore = () => backlog.length > 0 && backlog[0]!.deliveries[0]!.acceptedAt <= acceptedBefore;
    while (entries.length < limit && hasMore()) entries.push(...this.unpack(backlog.shift()!, now));
    const deliveries = entries.map((entry) => {
      entry.state = 'delivering';
      entry.leasedAt = now;
      return entry.delivery;
    });
    const nextDueAt = due?.nextDueAt;
    const more = hasMore() || (acceptedBefore === Infinity && nextDueAt !== undefined && nextDueAt <= now);
    return Promise.resolve({ deliveries, more, nextDueAt: more ? undefined : nextDueAt });
  }

  settle(settlements: Settlement[], now: number): Promise<boolean[]> {
    return Promise.resolve(settlements.map((settlement) => this.settleOne(settlement, now)));
  }

  list(query: CheckedQuery, { limit = 100, after }: DeliveryPage): Promise<DeliveryRecord[]> {
    const matching = this.find(query).filter(
      ({ delivery: { id } }) => after === undefined || Number(id) < Number(after),
    );
    return Promise.resolve(matching.reverse().slice(0, limit).map(toRecord));
  }

  counts(): Promise<DeliveryCount[]> {
    const counts = new Map<string, DeliveryCount>();
    const add = (destination: string, state: DeliveryState, more: number) => {
      const key = `${state} ${destination}`;
      const { count = 0 } = counts.get(key) ?? {};
      counts.set(key, { destination, state, count: count + more });
    };
    for (const { delivery, state } of this.entries.values()) add(delivery.destination, state, 1);
    for (const [destination, backlog] of this.backlogs) {
      for (const { deliveries } of backlog) add(destination, 'queued', deliveries.length);
    }
    return Promise.resolve([...counts.values()]);
  }

  replay(query: CheckedQuery, now: number): Promise<string[]> {
    const dead = this.find(query).filter(({ state }) => state === 'dead');
    for (const entry of dead) {
      entry.delivery = { ...entry.delivery, firstAttemptAt: undefined, failedUrls: [] };
      entry.dueAt = now;
      entry.reason = undefined;
      this.makeDue(entry, 'queued');
    }
    return Promise.resolve(dead.map(({ delivery }) => delivery.destination));
  }

  purge(query: CheckedQuery): Promise<number> {
    return Promise.resolve(this.remove(this.find(query)));
  }

  scrub(): Promise<void> {
    return Promise.resolve();
  }

  sweep(retention: Retention, now: number): Promise<number> {
    const past = (['delivered', 'dead'] as const).flatMap((state) => {
      const { age, count } = retention[state];
      const ended = this.find({ state });
      return ended.filter(({ endedAt }, index) => index < ended.length - count || endedAt <= now - age);
    });
    return Promise.resolve(this.remove(past));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private settleOne(settlement: Settlement, now: number): boolean {
    const { delivery, outcome } = settlement;
    const entry = this.entries.get(Number(delivery.id));
    if (entry?.state !== 'delivering') return false;
    const { attempts } = delivery;
    if (outcome === undefined) {
      this.makeDue(entry, attempts.length === 0 ? 'queued' : 'waiting');
      return true;
    }
    entry.state = outcome.state;
    if (outcome.state === 'delivered') {
      entry.lastAttempt = outcome.attempt;
      entry.endedAt = now;
      return true;
    }
    entry.delivery = {
      ...delivery,
      firstAttemptAt: firstAttemptAt(settlement, now),
      attempts: outcome.attempt ? [...attempts, outcome.attempt] : attempts,
      failedUrls: outcome.failedUrls,
    };
    if (outcome.state === 'waiting') {
      entry.dueAt = outcome.nextAttemptAt;
      this.makeDue(entry, 'waiting');
    } else {
      entry.reason = outcome.reason;
      entry.endedAt = now;
    }
    return true;
  }

  /** The entries that match, the oldest first. */
  private find(query: CheckedQuery): MemoryEntry[] {
    for (const backlog of this.backlogs.values()) {
      for (const batch of backlog.splice(0)) {
        for (const entry of this.unpack(batch, undefined)) this.makeDue(entry, 'queued');
      }
    }
    const { id, state, reason } = query;
    return [...this.entries.values()]
      .filter(
        (entry) =>
          (id ?? entry.delivery.id) === entry.delivery.id &&
          (state ?? entry.state) === entry.state &&
          (reason ?? entry.reason) === entry.reason &&
          matchesMessage(entry.delivery, query),
      )
      .sort((a, b) => Number(a.delivery.id) - Number(b.delivery.id));
  }

  /** Makes the entries of a batch, leased at a moment, or not. */
  private unpack({ deliveries, firstId }: MemoryBatch, leasedAt: number | undefined): MemoryEntry[] {
    return deliveries.map((accepted, index) => {
      const id = firstId + index;
      const entry: MemoryEntry = {
        delivery: toDelivery(accepted, String(id)),
        lastAttempt: undefined,
        state: 'delivering',
        dueAt: accepted.acceptedAt,
        leasedAt,
        reason: undefined,
        endedAt: 0,
      };
      this.entries.set(id, entry);
      return entry;
    });
  }

  private backlogOf(destination: string): MemoryBatch[] {
    let backlog = this.backlogs.get(destination);
    if (!backlog) this.backlogs.set(destination, (backlog = []));
    return backlog;
  }

  private remove(entries: MemoryEntry[]): number {
    for (const { delivery } of entries) this.entries.delete(Number(delivery.id));
    const removed = new Set(entries);
    for (const list of this.due.values()) list.remove(removed);
    return entries.length;
  }

  private makeDue(entry: MemoryEntry, state: 'queued' | 'waiting'): void {
    entry.state = state;
    const { destination } = entry.delivery;
    let list = this.due.get(destination);
    if (!list) this.due.set(destination, (list = new DueList()));
    list.add(entry);
  }
}

function toRecord({ delivery, lastAttempt, state, dueAt, reason }: MemoryEntry): DeliveryRecord {
  const body = delivery.body.toString();
  return {
    ...delivery,
    body,
    firstAttemptAt: delivery.firstAttemptAt ?? lastAttempt?.startedAt,
    attempts: lastAttempt ? [...delivery.attempts, lastAttempt] : delivery.attempts,
    state,
    nextAttemptAt: state === 'queued' || state === 'waiting' ? dueAt : undefined,
    reason,
  };
}
