import type { SeriesRecord, SeriesStore } from '../series-store.interface.js';

/** Per-minute figures in memory, for tests. */
export class MemorySeriesStore implements SeriesStore {
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
