import {
  type KeptLog,
  type LogRecord,
  type LogStore,
  timeOfLogId,
  toIdStart,
  type WholeLogRecord,
} from '../../webhook-destination/queue/log-store.interface.js';

type Entry = WholeLogRecord & { until: number };

/** Logs in memory, for tests. */
export class MemoryLogStore implements LogStore {
  /** Records by id, by log. */
  private readonly logs = new Map<string, Map<string, Entry>>();

  write({ name, age, count }: KeptLog, records: WholeLogRecord[]): Promise<boolean> {
    const kept = this.logs.get(name) ?? new Map<string, Entry>();
    this.logs.set(name, kept);
    for (const record of records) kept.set(record.id, { ...record, until: timeOfLogId(record.id) + age });
    for (const id of [...kept.keys()].sort().slice(0, Math.max(0, kept.size - count))) kept.delete(id);
    return Promise.resolve(true);
  }

  update({ name }: KeptLog, records: LogRecord[]): Promise<void> {
    const kept = this.logs.get(name);
    for (const { id, text } of records) {
      const entry = kept?.get(id);
      if (entry) entry.text = text;
    }
    return Promise.resolve();
  }

  read(log: KeptLog, limit: number, before = '~'): Promise<LogRecord[]> {
    const records = this.newestFirst(log).filter(({ id }) => id < before);
    return Promise.resolve(records.slice(0, limit).map(({ id, text }) => ({ id, text })));
  }

  find(log: KeptLog, ids: string[]): Promise<WholeLogRecord[]> {
    const records = this.newestFirst(log).filter(({ id }) => ids.includes(id));
    return Promise.resolve(records.map(({ id, text, attachment }) => ({ id, text, attachment })));
  }

  remove({ name }: KeptLog, ids: string[]): Promise<number> {
    const kept = this.logs.get(name);
    const removed = ids.filter((id) => kept?.delete(id)).length;
    if (kept?.size === 0) this.logs.delete(name);
    return Promise.resolve(removed);
  }

  names(start: string): Promise<string[]> {
    return Promise.resolve([...this.logs.keys()].filter((name) => name.startsWith(start)));
  }

  async removeOld(now: number, most: number): Promise<number> {
    let removed = 0;
    for (const [name, kept] of this.logs) {
      const old = [...kept.values()].filter(({ until }) => until <= now).slice(0, most - removed);
      removed += await this.remove(
        { name, age: 0, count: 0 },
        old.map(({ id }) => id),
      );
    }
    return removed;
  }

  private newestFirst({ name, age }: KeptLog): Entry[] {
    const oldest = toIdStart(Date.now() - age);
    const kept = [...(this.logs.get(name)?.values() ?? [])].filter(({ id }) => id >= oldest);
    return kept.sort((one, other) => (one.id < other.id ? 1 : -1));
  }
}
