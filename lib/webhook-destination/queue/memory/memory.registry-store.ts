import { type RegistryRecord, type RegistryStore, TOMBSTONE_AGE } from '../registry-store.interface.js';

interface Entry {
  record: RegistryRecord;
  /** In ms since the epoch. */
  changedAt: number;
}

/** The registry in memory, for tests. */
export class MemoryRegistryStore implements RegistryStore {
  /** The oldest change first. */
  private readonly entries = new Map<string, Entry>();
  private lastRevision = 0;

  read(after: number): Promise<RegistryRecord[]> {
    const records = [...this.entries.values()].map(({ record }) => record);
    return Promise.resolve(records.filter(({ revision }) => revision > after));
  }

  write(record: Omit<RegistryRecord, 'revision'>, expected: number): Promise<number | undefined> {
    const { kind, name, document } = record;
    const key = `${kind} ${name}`;
    const present = this.entries.get(key)?.record;
    const current = present?.document === undefined ? 0 : present.revision;
    if (current !== expected) return Promise.resolve(undefined);
    const revision = ++this.lastRevision;
    this.entries.delete(key); // its place is the last one now
    this.entries.set(key, { record: { kind, name, revision, document }, changedAt: Date.now() });
    return Promise.resolve(revision);
  }

  /** Forgets what was removed long ago. */
  sweep(now: number): void {
    for (const [key, { record, changedAt }] of this.entries) {
      if (record.document === undefined && changedAt <= now - TOMBSTONE_AGE) this.entries.delete(key);
    }
  }
}
