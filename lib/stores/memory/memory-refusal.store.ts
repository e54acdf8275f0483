import {
  idsFrom,
  type RefusalRecord,
  type RefusalStore,
} from '../../webhook-destination/queue/refusal-store.interface.js';

/** Refused messages in memory, for tests. */
export class MemoryRefusalStore implements RefusalStore {
  /** Records by id, by source. */
  private readonly bySource = new Map<string, Map<string, RefusalRecord>>();

  keep(records: RefusalRecord[], count: number): Promise<boolean> {
    for (const record of records) {
      const kept = this.bySource.get(record.source) ?? new Map<string, RefusalRecord>();
      this.bySource.set(record.source, kept.set(record.id, record));
    }
    for (const source of new Set(records.map((record) => record.source))) {
      const kept = this.bySource.get(source)!;
      for (const id of [...kept.keys()].sort().slice(0, Math.max(0, kept.size - count))) kept.delete(id);
    }
    return Promise.resolve(true);
  }

  sources(): Promise<string[]> {
    return Promise.resolve([...this.bySource.keys()]);
  }

  list(source: string, after: string | undefined, limit: number): Promise<RefusalRecord[]> {
    const found = this.newestFirst(source).filter(({ id }) => after === undefined || id < after);
    return Promise.resolve(found.slice(0, limit));
  }

  read(source: string, ids: string[]): Promise<RefusalRecord[]> {
    return Promise.resolve(this.newestFirst(source).filter(({ id }) => ids.includes(id)));
  }

  update(source: string, heads: Pick<RefusalRecord, 'id' | 'head'>[]): Promise<void> {
    const kept = this.bySource.get(source);
    for (const { id, head } of heads) {
      const record = kept?.get(id);
      if (record) kept!.set(id, { ...record, head });
    }
    return Promise.resolve();
  }

  remove(source: string, ids: string[]): Promise<number> {
    const kept = this.bySource.get(source);
    const removed = ids.filter((id) => kept?.delete(id)).length;
    if (kept?.size === 0) this.bySource.delete(source);
    return Promise.resolve(removed);
  }

  async removeOld(before: number, most: number): Promise<number> {
    let removed = 0;
    for (const [source, kept] of this.bySource) {
      const old = [...kept.keys()].filter((id) => id < idsFrom(before)).slice(0, most - removed);
      removed += await this.remove(source, old);
    }
    return removed;
  }

  private newestFirst(source: string): RefusalRecord[] {
    const kept = [...(this.bySource.get(source)?.values() ?? [])];
    return kept.sort((one, other) => (one.id < other.id ? 1 : -1));
  }
}
