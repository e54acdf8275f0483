import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Observable, Subscription } from 'rxjs';

import type { AuditEntry } from '../../observe/audit.log.js';
import { createLogId, type KeptLog, type LogStore, toIdStart } from '../../queue/log-store.interface.js';
import { LogWriter } from '../../queue/log.writer.js';
import { type ActivityEntry, type ActivityQuery, type KeptEntry, isAbout, toEntry, toKept } from './activity.entry.js';
import { isRefusal, RefusalCounter } from './refusal.counter.js';

/** How long an entry is kept, in ms: 90 days. */
export const ACTIVITY_AGE = 90 * 24 * 60 * 60_000;

/**
 * The entries are in four logs, so that refusals of unknown callers, which anybody can cause, deletions, of which an
 * application may request many, and what tenants do in the portal push out no others.
 */
const ACTIONS: KeptLog = { name: 'activity', age: ACTIVITY_AGE, count: 10_000 };
const DELETIONS: KeptLog = { name: 'activity-deletions', age: ACTIVITY_AGE, count: 10_000 };
const REFUSALS: KeptLog = { name: 'activity-refusals', age: ACTIVITY_AGE, count: 2_000 };
const TENANTS: KeptLog = { name: 'activity-tenants', age: ACTIVITY_AGE, count: 10_000 };
const LOGS = [ACTIONS, DELETIONS, REFUSALS, TENANTS];

/** Entries that a search reads of each log at once, before others have their turn. */
const READ = 100;

/** Entries that a search reads at most; it then ends with a cursor. */
const MAX_READ = 2_000;

/** A portion of the entries that match, newest first. */
export interface ActivityPortion {
  entries: ActivityEntry[];
  /** Where the next portion begins; undefined if this is the last one. */
  cursor: string | undefined;
}

/** Keeps what the audit log emits, beside the deliveries of the queue. A failure to write never affects the action. */
export class ActivityLog {
  private readonly writer: LogWriter;
  private readonly refusals = new RefusalCounter();
  private readonly subscription: Subscription;

  constructor(
    private readonly store: LogStore,
    entries$: Observable<AuditEntry>,
  ) {
    this.writer = new LogWriter(store, 'Entries of the activity');
    this.subscription = entries$.subscribe((entry) => this.keep(entry));
  }

  /** Returns matching entries; a search that must read much returns them in portions. */
  async search(query: ActivityQuery, limit: number, cursor?: string): Promise<ActivityPortion> {
    await this.writer.flush();
    const entries: ActivityEntry[] = [];
    const from = toIdStart(query.from ?? 0);
    let before = [cursor, query.to === undefined ? undefined : toIdStart(query.to)].filter(Boolean).sort()[0];
    for (let read = 0; read < MAX_READ;) {
      const { found, isLast } = await this.read(before);
      for (const kept of found) {
        before = kept.id;
        if (kept.id < from) return { entries, cursor: undefined };
        if (isAbout(query, kept)) entries.push(toEntry(kept));
        if (entries.length === limit) return { entries, cursor: before };
      }
      if (isLast) return { entries, cursor: undefined };
      read += found.length;
      await nextTurn();
    }
    return { entries, cursor: before };
  }

  /** Returns the entry with this id; undefined if there is none. */
  async find(id: string): Promise<ActivityEntry | undefined> {
    await this.writer.flush();
    const { found } = await this.read(`${id}~`, 1);
    const kept = found.find((entry) => entry.id === id);
    return kept && toEntry(kept);
  }

  /** Called before the queue closes. */
  async close(): Promise<void> {
    this.subscription.unsubscribe();
    await this.writer.close();
  }

  private keep(entry: AuditEntry): void {
    if (isRefusal(entry)) {
      const counted = this.refusals.count(entry);
      this.writer.put(entry.by === undefined ? REFUSALS : logOf(entry), counted.id, counted);
      return;
    }
    // The proof of a deletion has the id of the deletion, which its notifications and receipts have.
    const id = entry.deletion ? entry.target! : createLogId(entry.at);
    this.writer.put(entry.deletion ? DELETIONS : logOf(entry), id, toKept(id, entry));
  }

  /** Returns the next entries of all logs together, newest first, and whether there are no others. */
  private async read(before: string | undefined, limit = READ): Promise<{ found: KeptEntry[]; isLast: boolean }> {
    const logs = await Promise.all(LOGS.map((log) => this.store.read(log, limit, before)));
    const records = logs.flat().sort((a, b) => (a.id < b.id ? 1 : -1));
    // Of a log that has more, entries may be missing among those that come later.
    const full = logs.filter((log) => log.length === limit).map((log) => log.at(-1)!.id);
    const last = full.sort().at(-1) ?? '';
    const found = records.filter(({ id }) => id >= last).map(({ text }) => JSON.parse(text) as KeptEntry);
    return { found, isLast: full.length === 0 };
  }
}

function logOf({ by }: AuditEntry): KeptLog {
  return by === 'portal' ? TENANTS : ACTIONS;
}
