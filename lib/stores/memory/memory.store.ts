import { NEVER } from 'rxjs';

import { LineLogger } from '../../common/line.logger.js';
import {
  type DeliveryCount,
  type DeliveryRecord,
  type DeliveryState,
  isOpenNotice,
  type KeptSince,
  type OldestDelivery,
  type PurgedSource,
  type QueueCondition,
  type SweptRecords,
  UNLIMITED,
} from '../../webhook-destination/queue/delivery.interface.js';
import {
  type CheckedSearch,
  type DeliveryPortion,
  matchesRecord,
  SearchPace,
} from '../../webhook-destination/queue/delivery-search.js';
import { toDelivery, toSettled } from '../../webhook-destination/queue/delivery.factory.js';
import type {
  Claim,
  ClaimLimit,
  DeliveryStore,
  Insertion,
  MessageKey,
  ReplayQuery,
  Settlement,
  StoreBatch,
} from '../../webhook-destination/queue/store/delivery-store.interface.js';
import { type CheckedPage, type CheckedQuery, matches } from '../../webhook-destination/queue/query.util.js';
import { limitFairly } from '../../webhook-destination/queue/retention-bound.util.js';
import {
  boundOf,
  ENDED_STATES,
  type EndedState,
  type Retention,
  type RetentionBound,
} from '../../webhook-destination/queue/retention.options.js';
import { AcceptedMessages } from './accepted-messages.js';
import { DueList, type Entry, isWaiting } from './due-list.js';
import { EndedRecords } from './ended-records.js';
import { MemoryLogStore } from './memory-log.store.js';
import { MemoryRegistryStore } from './memory-registry.store.js';
import type { SeriesRecord, SeriesStore } from '../../webhook-destination/queue/series-store.interface.js';

/** Deliveries in memory, for tests. */
export class MemoryStore implements DeliveryStore {
  readonly isShared = false;
  readonly fullTurn = Infinity;
  readonly transactions = undefined;
  readonly peers = undefined;
  readonly due$ = NEVER;
  readonly registry = new MemoryRegistryStore();
  readonly series = new MemorySeriesStore();
  readonly logs = new MemoryLogStore();
  private readonly logger = new LineLogger('MemoryQueue');
  /** By id, oldest first. */
  private readonly entries = new Map<string, Entry>();
  private readonly due = new Map<string, DueList>();
  private readonly ended = { delivered: new EndedRecords(), dead: new EndedRecords() };
  private readonly accepted = new AcceptedMessages(this.messageIds);
  private lastId = 0;

  constructor(private readonly messageIds: Required<RetentionBound>) {}

  now(): number {
    return Date.now();
  }

  holdsLeases(): boolean {
    return true;
  }

  /** Deliveries that were leased before the queue was closed are due again. */
  open(): Promise<void> {
    this.logger.warn('Deliveries are kept in memory only and are lost when the process ends: use this queue for tests');
    for (const entry of this.find({ state: 'delivering' })) {
      this.makeDue(entry, 'waiting');
    }
    return Promise.resolve();
  }

  insert(batches: StoreBatch[], now: number): Promise<Insertion[]> {
    const inserted = batches.map(({ deliveries, leased }) => {
      const repeated = this.accepted.add(deliveries, now);
      const skipped = new Set(repeated);
      const fresh = deliveries.filter((delivery) => !skipped.has(delivery));
      const added = fresh.map((delivery) => toDelivery(delivery, String(++this.lastId)));
      for (const delivery of added) {
        const { acceptedAt: dueAt } = delivery;
        const entry: Entry = { delivery, state: 'delivering', dueAt, changedAt: now, reason: undefined };
        this.entries.set(delivery.id, entry);
        if (!leased) this.makeDue(entry, 'queued');
      }
      return { leased: leased ? added : [], repeated };
    });
    return Promise.resolve(inserted);
  }

  remembers(message: MessageKey, destinations: readonly string[], now: number): Promise<string[]> {
    return Promise.resolve(destinations.filter((destination) => this.accepted.has({ ...message, destination }, now)));
  }

  claim(destination: string, { deliveries: limit }: ClaimLimit, now: number): Promise<Claim> {
    const due = this.dueOf(destination);
    const claimed = due.take(limit, now);
    for (const entry of claimed) {
      entry.state = 'delivering';
      entry.changedAt = now;
    }
    const more = claimed.length === limit;
    const nextDueAt = more ? undefined : due.next?.dueAt;
    return Promise.resolve({ deliveries: claimed.map(({ delivery }) => delivery), more, nextDueAt });
  }

  settle(settlements: Settlement[], now: number): Promise<boolean[]> {
    const settle = (settlement: Settlement): boolean => {
      const entry = this.entries.get(settlement.delivery.id);
      if (entry?.state !== 'delivering') return false;
      const { state, dueAt = entry.dueAt, reason, ...records } = toSettled(settlement);
      entry.delivery = { ...entry.delivery, ...records };
      entry.reason = reason;
      entry.changedAt = now;
      if (state === 'delivered' || state === 'dead') this.end(entry, state);
      else this.makeDue(entry, state, dueAt);
      return true;
    };
    return Promise.resolve(settlements.map(settle));
  }

  list(query: CheckedQuery, { limit, after = 'Infinity' }: CheckedPage): Promise<DeliveryRecord[]> {
    const matching = this.find(query).filter(({ delivery: { id } }) => Number(id) < Number(after));
    const page = matching.slice(-limit || matching.length).reverse();
    return Promise.resolve(page.map(toRecord));
  }

  async search(search: CheckedSearch, { limit, after }: CheckedPage): Promise<DeliveryPortion> {
    const deliveries: DeliveryRecord[] = [];
    const pace = new SearchPace();
    const [oldest] = this.entries.keys();
    const first = Number(oldest); // NaN if there is none
    let id = Math.min(this.lastId + 1, Number(after ?? Infinity));
    while (deliveries.length < limit && id > first) {
      if (pace.isDue) await pace.pause();
      if (pace.isOver) break;
      const entry = this.entries.get(String(--id));
      if (!entry || !isMatch(search.query, entry) || !matchesRecord(search, entry.delivery)) continue;
      deliveries.push(toRecord(entry));
      pace.found(entry.delivery.body.length);
    }
    return { deliveries, next: id > first ? String(id) : undefined };
  }

  check(): Promise<QueueCondition> {
    return Promise.resolve(UNLIMITED);
  }

  oldest(): Promise<OldestDelivery[]> {
    const oldest = new Map<string, OldestDelivery>();
    for (const { delivery, state } of this.entries.values()) {
      const { destination, acceptedAt } = delivery;
      if (!isWaiting(state) || oldest.has(destination)) continue;
      oldest.set(destination, { destination, acceptedAt, dueAt: this.dueOf(destination).next?.dueAt });
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

  keptSince(): Promise<KeptSince[]> {
    return Promise.resolve(this.ended.delivered.keptSince());
  }

  replay(query: ReplayQuery, now: number): Promise<string[]> {
    const found = this.find(query);
    for (const entry of found) {
      if (entry.state === 'waiting') {
        this.dueOf(entry.delivery.destination).keep((other) => other !== entry);
        this.makeDue(entry, 'waiting', Math.min(entry.dueAt, now));
        continue;
      }
      this.ended[entry.state as EndedState].delete(entry);
      entry.delivery = { ...entry.delivery, firstAttemptAt: now, failedUrls: [] };
      entry.reason = undefined;
      this.makeDue(entry, 'queued', now);
    }
    return Promise.resolve(found.map(({ delivery }) => delivery.destination));
  }

  expedite(destination: string, now: number): Promise<number> {
    const late = this.find({ destination }).filter(({ state, dueAt }) => isWaiting(state) && dueAt > now);
    this.dueOf(destination).keep(({ dueAt }) => dueAt <= now);
    for (const entry of late) this.makeDue(entry, entry.state, now);
    return Promise.resolve(late.length);
  }

  purge(query: CheckedQuery, keepsNotices: boolean): Promise<PurgedSource[]> {
    const isPurged = ({ delivery: { body }, state }: Entry) => !(keepsNotices && isOpenNotice({ body, state }));
    const purged = this.find(query).filter(isPurged);
    this.remove(purged);
    for (const due of this.due.values()) due.keep(({ delivery }) => this.entries.has(delivery.id));
    return Promise.resolve(purged.map(({ delivery: { source } }) => ({ source, count: 1 })));
  }

  sweep(retention: Retention, now: number): Promise<SweptRecords> {
    this.accepted.forget(now);
    this.registry.sweep(now);
    const swept: SweptRecords = { removed: 0, surplus: [] };
    for (const state of ENDED_STATES) {
      const bound = boundOf(retention, state);
      const ended = this.ended[state];
      for (const { destination } of ended.counts()) {
        swept.removed += this.remove(ended.first(destination, Infinity, now - bound.age));
      }
      for (const { destination, count, kept } of limitFairly(ended.counts(), bound)) {
        const surplus = this.remove(ended.first(destination, count - kept));
        swept.removed += surplus;
        swept.surplus.push({ destination, state, count: surplus });
      }
    }
    return Promise.resolve(swept);
  }

  /** Nothing is left of what is purged. */
  scrub(): Promise<void> {
    return Promise.resolve();
  }

  beginClose(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Returns matching entries, oldest first. */
  private find(query: CheckedQuery): Entry[] {
    return [...this.entries.values()].filter((entry) => isMatch(query, entry));
  }

  private remove(entries: Entry[]): number {
    for (const entry of entries) {
      this.entries.delete(entry.delivery.id);
      if (entry.state === 'delivered' || entry.state === 'dead') this.ended[entry.state].delete(entry);
    }
    return entries.length;
  }

  private end(entry: Entry, state: EndedState): void {
    entry.state = state;
    this.ended[state].add(entry);
  }

  private makeDue(entry: Entry, state: DeliveryState, dueAt = entry.dueAt): void {
    entry.state = state;
    entry.dueAt = dueAt;
    this.dueOf(entry.delivery.destination).add(entry);
  }

  private dueOf(destination: string): DueList {
    let due = this.due.get(destination);
    if (!due) this.due.set(destination, (due = new DueList()));
    return due;
  }
}

/** Per-minute figures in memory, for tests. */
class MemorySeriesStore implements SeriesStore {
  private readonly records = new Map<string, SeriesRecord>();

  write(records: SeriesRecord[], oldest: number): Promise<void> {
    for (const record of records) {
      this.records.set(JSON.stringify([record.series, record.minute, record.writer]), record);
    }
    for (const [key, { minute }] of this.records) if (minute < oldest) this.records.delete(key);
    return Promise.resolve();
  }

  read(series: string, from: number, to: number): Promise<SeriesRecord[]> {
    const isWanted = (record: SeriesRecord) => record.series === series && record.minute >= from && record.minute <= to;
    return Promise.resolve([...this.records.values()].filter(isWanted));
  }
}

function isMatch(query: CheckedQuery, { delivery, state, reason }: Entry): boolean {
  return matches(query, delivery, state, reason);
}

function toRecord({ delivery, state, dueAt, reason }: Entry): DeliveryRecord {
  const nextAttemptAt = isWaiting(state) ? dueAt : undefined;
  return { ...delivery, body: delivery.body.toString(), state, nextAttemptAt, reason };
}
