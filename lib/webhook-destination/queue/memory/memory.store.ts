import { Logger } from '@nestjs/common';

import type { DeliveryCount, DeliveryPage, DeliveryQuery, DeliveryRecord } from '../delivery-queue.interface.js';
import {
  type Claim,
  type DeliveryStore,
  firstAttemptAt,
  type Settlement,
  type StoreBatch,
} from '../embedded/delivery-store.interface.js';
import type { Retention } from '../retention.options.js';
import { DueList } from './due.list.js';

/** A delivery and the state it is in. */
export interface MemoryEntry extends DeliveryRecord {
  /** When it falls due, in ms since the epoch. */
  dueAt: number;
  /** When it was delivered or died, in ms since the epoch. */
  endedAt: number;
}

/** Deliveries in memory. */
export class MemoryStore implements DeliveryStore {
  private readonly logger = new Logger('MemoryQueue');
  /** By id, the oldest first. */
  private readonly entries = new Map<string, MemoryEntry>();
  /** What can be claimed, by destination. */
  private readonly due = new Map<string, DueList<MemoryEntry>>();
  private lastId = 0;

  /** What a run before this one had leased is due again. */
  open(): Promise<void> {
    this.logger.warn('Deliveries are kept in memory only, and lost when the process ends: use it for tests');
    for (const entry of this.entries.values()) if (entry.state === 'delivering') this.makeDue(entry, 'waiting');
    return Promise.resolve();
  }

  insert(batches: StoreBatch[]): Promise<string[][]> {
    return Promise.resolve(
      batches.map(({ deliveries, leased }) =>
        deliveries.map((delivery) => {
          const id = String(++this.lastId);
          const entry: MemoryEntry = {
            ...delivery,
            id,
            firstAttemptAt: leased ? delivery.acceptedAt : undefined,
            attempts: [],
            failedUrls: [],
            state: 'delivering',
            nextAttemptAt: undefined,
            reason: undefined,
            dueAt: delivery.acceptedAt,
            endedAt: 0,
          };
          this.entries.set(id, entry);
          if (!leased) this.makeDue(entry, 'queued');
          return id;
        }),
      ),
    );
  }

  claim(destination: string, limit: number, now: number): Promise<Claim> {
    const due = this.due.get(destination);
    const taken = due?.take(limit, now) ?? [];
    const deliveries = taken.map((entry) => {
      const { id, source, messageId, userId, body, acceptedAt, firstAttemptAt, attempts, failedUrls } = entry;
      entry.state = 'delivering';
      entry.nextAttemptAt = undefined;
      entry.firstAttemptAt ??= now;
      return { id, destination, source, messageId, userId, body, acceptedAt, firstAttemptAt, attempts, failedUrls };
    });
    const nextDueAt = due?.nextDueAt;
    const more = nextDueAt !== undefined && nextDueAt <= now;
    return Promise.resolve({ deliveries, more, nextDueAt: more ? undefined : nextDueAt });
  }

  settle(settlements: Settlement[]): Promise<boolean[]> {
    return Promise.resolve(
      settlements.map(({ delivery, outcome }) => {
        const entry = this.entries.get(delivery.id);
        if (entry?.state !== 'delivering') return false;
        entry.firstAttemptAt = firstAttemptAt({ delivery, outcome }, Date.now());
        if (outcome === undefined) {
          this.makeDue(entry, delivery.attempts.length === 0 ? 'queued' : 'waiting');
          return true;
        }
        if (outcome.attempt) entry.attempts = [...delivery.attempts, outcome.attempt];
        entry.state = outcome.state;
        if (outcome.state !== 'delivered') entry.failedUrls = outcome.failedUrls;
        if (outcome.state === 'waiting') {
          entry.dueAt = outcome.nextAttemptAt;
          this.makeDue(entry, 'waiting');
        } else {
          entry.endedAt = Date.now();
          if (outcome.state === 'dead') entry.reason = outcome.reason;
        }
        return true;
      }),
    );
  }

  list(query: DeliveryQuery, { limit = 100, after }: DeliveryPage): Promise<DeliveryRecord[]> {
    const matching = this.find(query).filter(({ id }) => after === undefined || Number(id) < Number(after));
    return Promise.resolve(
      matching
        .reverse()
        .slice(0, limit)
        .map(({ dueAt: _dueAt, endedAt: _endedAt, ...record }) => record),
    );
  }

  counts(): Promise<DeliveryCount[]> {
    const counts = new Map<string, DeliveryCount>();
    for (const { destination, state } of this.entries.values()) {
      const key = `${state} ${destination}`;
      const count = counts.get(key) ?? { destination, state, count: 0 };
      counts.set(key, count);
      count.count++;
    }
    return Promise.resolve([...counts.values()]);
  }

  replay(query: DeliveryQuery, now: number): Promise<string[]> {
    const dead = this.find(query).filter(({ state }) => state === 'dead');
    for (const entry of dead) {
      Object.assign(entry, { dueAt: now, firstAttemptAt: undefined, failedUrls: [], reason: undefined });
      this.makeDue(entry, 'queued');
    }
    return Promise.resolve(dead.map(({ destination }) => destination));
  }

  purge(query: DeliveryQuery): Promise<number> {
    return Promise.resolve(this.remove(this.find(query)));
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

  private find(query: DeliveryQuery): MemoryEntry[] {
    const terms = Object.entries(query).filter(([, value]) => value !== undefined) as [keyof DeliveryQuery, string][];
    return [...this.entries.values()].filter((entry) => terms.every(([field, value]) => entry[field] === value));
  }

  private remove(entries: MemoryEntry[]): number {
    for (const { id } of entries) this.entries.delete(id);
    const removed = new Set(entries);
    for (const list of this.due.values()) list.remove(removed);
    return entries.length;
  }

  private makeDue(entry: MemoryEntry, state: 'queued' | 'waiting'): void {
    entry.state = state;
    entry.nextAttemptAt = entry.dueAt;
    let list = this.due.get(entry.destination);
    if (!list) this.due.set(entry.destination, (list = new DueList()));
    list.add(entry);
  }
}
