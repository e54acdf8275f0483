import { Fifo } from '../../../client/delivery/fifo.js';
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
import { type CheckedQuery, matches } from '../query.check.js';
import type { Retention, RetentionBound } from '../retention.options.js';

/** Part of the message ids that are forgotten at once: the first of a `Map` are found by passing all that were removed. */
const PART = 1 / 64;

/** A delivery and the state it is in. */
interface Entry {
  /** Replaced, never changed: a consumer that leased it reads it. */
  delivery: Delivery;
  state: DeliveryState;
  /** When it falls due, in ms since the epoch. */
  dueAt: number;
  /** When it was leased last, in ms since the epoch. */
  leasedAt: number | undefined;
  reason: string | undefined;
  /** When it was delivered or died, in ms since the epoch. */
  endedAt: number;
}

/** What can be claimed for one destination. */
interface Line {
  /** Never leased, in the order of acceptance. */
  fresh: Fifo<Entry>;
  /** All others, in the order in which they fall due. */
  retries: Entry[];
}

/** Deliveries in memory, for tests. */
export class MemoryStore implements DeliveryStore {
  private readonly logger = new LineLogger('MemoryQueue');
  /** By id, the oldest first. */
  private readonly entries = new Map<string, Entry>();
  private readonly lines = new Map<string, Line>();
  /** When each message was accepted, in ms since the epoch, the oldest first. */
  private readonly accepted = new Map<string, number>();
  private lastId = 0;

  constructor(private readonly messageIds: Required<RetentionBound>) {}

  /** Deliveries that were leased before the queue was closed are due again. */
  open(): Promise<void> {
    this.logger.warn('Deliveries are kept in memory only and are lost when the process ends: use this queue for tests');
    for (const entry of this.entries.values()) {
      if (entry.state !== 'delivering') continue;
      entry.delivery = { ...entry.delivery, firstAttemptAt: entry.delivery.firstAttemptAt ?? entry.leasedAt };
      this.makeDue(entry, 'waiting');
    }
    return Promise.resolve();
  }

  insert(batches: StoreBatch[], now: number): Promise<Delivery[][]> {
    const inserted = batches.map(({ deliveries, leased }) => {
      const added = deliveries
        .filter((delivery) => this.isNew(delivery, now))
        .map((one) => this.create(one, now, leased));
      return leased ? added : [];
    });
    const { count } = this.messageIds;
    if (this.accepted.size > count * (1 + PART)) this.forget(() => this.accepted.size > count);
    return Promise.resolve(inserted);
  }

  claim(destination: string, { deliveries: limit, windowBefore }: ClaimLimit, now: number): Promise<Claim> {
    const line = this.lineOf(destination);
    const isWanted = ({ delivery }: Entry) => (delivery.firstAttemptAt ?? delivery.acceptedAt) <= windowBefore;
    const entries: Entry[] = [];
    const left: Entry[] = [];
    let due = 0;
    for (; entries.length < limit && line.retries[due] && line.retries[due]!.dueAt <= now; due++) {
      (isWanted(line.retries[due]!) ? entries : left).push(line.retries[due]!);
    }
    line.retries = [...left, ...line.retries.slice(due)];
    const hasFresh = () => line.fresh.length > 0 && isWanted(line.fresh.peek()!);
    while (entries.length < limit && hasFresh()) entries.push(line.fresh.shift()!);
    for (const entry of entries) Object.assign(entry, { state: 'delivering', leasedAt: now });
    const nextDueAt = line.retries[0]?.dueAt;
    const more = entries.length === limit || hasFresh();
    const deliveries = entries.map(({ delivery }) => delivery);
    return Promise.resolve({ deliveries, more, nextDueAt: more ? undefined : nextDueAt });
  }

  settle(settlements: Settlement[], now: number): Promise<boolean[]> {
    return Promise.resolve(settlements.map((settlement) => this.settleOne(settlement, now)));
  }

  list(query: CheckedQuery, { limit = 100, after = 'Infinity' }: DeliveryPage): Promise<DeliveryRecord[]> {
    const matching = this.find(query).filter(({ delivery: { id } }) => Number(id) < Number(after));
    const records = matching
      .slice(-limit || matching.length)
      .reverse()
      .map(({ delivery, state, dueAt, reason }) => ({
        ...delivery,
        body: delivery.body.toString(),
        state,
        nextAttemptAt: state === 'queued' || state === 'waiting' ? dueAt : undefined,
        reason,
      }));
    return Promise.resolve(records);
  }

  counts(): Promise<DeliveryCount[]> {
    const counts = new Map<string, DeliveryCount>();
    for (const {
      delivery: { destination },
      state,
    } of this.entries.values()) {
      const key = `${state} ${destination}`;
      const counted = counts.get(key);
      if (counted) counted.count++;
      else counts.set(key, { destination, state, count: 1 });
    }
    return Promise.resolve([...counts.values()]);
  }

  replay(query: CheckedQuery, now: number): Promise<string[]> {
    const dead = this.find(query).filter(({ state }) => state === 'dead');
    for (const entry of dead) {
      entry.delivery = { ...entry.delivery, firstAttemptAt: now, failedUrls: [] };
      Object.assign(entry, { dueAt: now, reason: undefined });
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
    this.forget((acceptedAt) => acceptedAt <= now - this.messageIds.age);
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

  /** Whether the message is not remembered; it is from now on. */
  private isNew({ destination, source, messageId }: NewDelivery, now: number): boolean {
    const key = `${destination.length} ${source.length} ${destination}${source}${messageId}`;
    const acceptedAt = this.accepted.get(key);
    if (acceptedAt !== undefined && acceptedAt > now - this.messageIds.age) return false;
    this.accepted.delete(key); // its place is the last one now
    this.accepted.set(key, now);
    return true;
  }

  /** Forgets the oldest messages as long as that holds. */
  private forget(isPast: (acceptedAt: number) => boolean): void {
    for (const [key, acceptedAt] of this.accepted) {
      if (!isPast(acceptedAt)) return;
      this.accepted.delete(key);
    }
  }

  private create(accepted: NewDelivery, now: number, leased: boolean): Delivery {
    const delivery = toDelivery(accepted, String(++this.lastId));
    const entry: Entry = {
      delivery,
      state: leased ? 'delivering' : 'queued',
      dueAt: accepted.acceptedAt,
      leasedAt: leased ? now : undefined,
      reason: undefined,
      endedAt: 0,
    };
    this.entries.set(delivery.id, entry);
    if (!leased) this.lineOf(delivery.destination).fresh.push(entry);
    return delivery;
  }

  private settleOne(settlement: Settlement, now: number): boolean {
    const { delivery, outcome } = settlement;
    const entry = this.entries.get(delivery.id);
    if (entry?.state !== 'delivering') return false;
    const { attempts } = delivery;
    if (outcome === undefined) {
      this.makeDue(entry, attempts.length === 0 ? 'queued' : 'waiting');
      return true;
    }
    entry.delivery = {
      ...delivery,
      firstAttemptAt: firstAttemptAt(settlement, now),
      attempts: outcome.attempt ? [...attempts, outcome.attempt] : attempts,
      failedUrls: 'failedUrls' in outcome ? outcome.failedUrls : delivery.failedUrls,
    };
    Object.assign(entry, { state: outcome.state, endedAt: now });
    if (outcome.state === 'dead') entry.reason = outcome.reason;
    if (outcome.state !== 'waiting') return true;
    entry.dueAt = outcome.nextAttemptAt;
    this.makeDue(entry, 'waiting');
    return true;
  }

  /** The entries that match, the oldest first. */
  private find(query: CheckedQuery): Entry[] {
    const isMatch = ({ delivery, state, reason }: Entry) => matches(query, delivery, state, reason);
    return [...this.entries.values()].filter(isMatch);
  }

  private remove(entries: Entry[]): number {
    if (entries.length === 0) return 0;
    for (const { delivery } of entries) this.entries.delete(delivery.id);
    const isThere = ({ delivery }: Entry) => this.entries.has(delivery.id);
    for (const line of this.lines.values()) {
      for (const entry of line.fresh.drain()) if (isThere(entry)) line.fresh.push(entry);
      line.retries = line.retries.filter(isThere);
    }
    return entries.length;
  }

  private makeDue(entry: Entry, state: 'queued' | 'waiting'): void {
    entry.state = state;
    const { retries } = this.lineOf(entry.delivery.destination);
    let [low, high] = [0, retries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (retries[middle]!.dueAt <= entry.dueAt) low = middle + 1;
      else high = middle;
    }
    retries.splice(low, 0, entry);
  }

  private lineOf(destination: string): Line {
    let line = this.lines.get(destination);
    if (!line) this.lines.set(destination, (line = { fresh: new Fifo(), retries: [] }));
    return line;
  }
}
