import {
  type KeptLog,
  type LogRecord,
  type LogStore,
  toIdStart,
} from '../../webhook-destination/queue/log-store.interface.js';

/** Logs in memory, for tests. */
export class MemoryLogStore implements LogStore {
  /** Records of each log, oldest first. */
  private readonly logs = new Map<string, { log: KeptLog; records: LogRecord[] }>();

  write(log: KeptLog, records: LogRecord[]): Promise<void> {
    const texts = new Map(this.logs.get(log.name)?.records.map(({ id, text }) => [id, text]));
    for (const { id, text } of records) texts.set(id, text);
    const sorted = Array.from(texts, ([id, text]) => ({ id, text })).sort((a, b) => (a.id < b.id ? -1 : 1));
    this.logs.set(log.name, { log, records: sorted.slice(-log.count) });
    return Promise.resolve();
  }

  read({ name, age }: KeptLog, limit: number, before = '~'): Promise<LogRecord[]> {
    const oldest = toIdStart(Date.now() - age);
    const records = this.logs.get(name)?.records.filter(({ id }) => id < before && id >= oldest) ?? [];
    return Promise.resolve(records.slice(-limit).reverse());
  }

  /** Removes records past the age of their log. */
  sweep(now: number): void {
    for (const kept of this.logs.values()) {
      const oldest = toIdStart(now - kept.log.age);
      kept.records = kept.records.filter(({ id }) => id >= oldest);
    }
  }
}
