import type { AuditEntry } from '../../observe/audit.log.js';
import { createLogId } from '../../queue/log-store.interface.js';
import { type KeptEntry, toKept } from './activity.entry.js';

/** Time for which refusals of one caller are one entry, in ms. */
const PERIOD = 60_000;

/** Maximum number of unknown callers with an entry of their own in one period; the others share one. */
const MAX_CALLERS = 100;

/** Address of the entry for those that have no entry of their own. */
const OTHERS = 'other addresses';

/** Whether an entry is of a request or a sign-in that was refused. */
export function isRefusal({ action }: Pick<AuditEntry, 'action'>): boolean {
  return action.endsWith('.refused');
}

/** Counts refusals: one entry for each caller, action and code in a minute, however often it tries. */
export class RefusalCounter {
  private readonly entries = new Map<string, KeptEntry & { count: number }>();
  private since = -Infinity;

  /** Counts a refusal; returns the entry that stands for it. */
  count(entry: AuditEntry): KeptEntry {
    if (entry.at >= this.since + PERIOD || entry.at < this.since) {
      this.entries.clear();
      this.since = entry.at;
    }
    const counted = this.find(entry) ?? this.find({ ...entry, address: OTHERS })!;
    counted.count++;
    counted.lastAt = entry.at;
    return counted;
  }

  /** Returns the entry of a caller; undefined if there are too many. */
  private find(entry: AuditEntry): (KeptEntry & { count: number }) | undefined {
    const { action, by, tenant, user, address, details } = entry;
    const isOthers = address === OTHERS;
    const key = JSON.stringify(isOthers ? [OTHERS] : [action, by, tenant, user, address, details?.code]);
    const found = this.entries.get(key);
    if (found || (!isOthers && by === undefined && this.entries.size >= MAX_CALLERS)) return found;
    const kept = { ...toKept(createLogId(entry.at), entry), count: 0 };
    if (isOthers) Object.assign(kept, { target: undefined, users: undefined, details: undefined });
    this.entries.set(key, kept);
    return kept;
  }
}
