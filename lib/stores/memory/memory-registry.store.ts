import {
  nextRevision,
  type RegistryRecord,
  type RegistryStore,
  SESSION_TIME,
  TOMBSTONE_AGE,
} from '../../webhook-destination/queue/registry-store.interface.js';

/** The registry in memory, for tests. */
export class MemoryRegistryStore implements RegistryStore {
  /** Oldest change first. Hidden from inspection, because documents may hold secrets. */
  readonly #records = new Map<string, RegistryRecord>();
  private lastRevision = 0;

  read(after: number): Promise<RegistryRecord[]> {
    return Promise.resolve([...this.#records.values()].filter(({ revision }) => revision > after));
  }

  write({ kind, name, document }: Omit<RegistryRecord, 'revision'>, expected: number): Promise<number | undefined> {
    const key = `${kind} ${name}`;
    const present = this.#records.get(key);
    const current = present?.document === undefined ? 0 : present.revision;
    if (current !== expected) return Promise.resolve(undefined);
    const revision = (this.lastRevision = nextRevision(this.lastRevision));
    this.#records.delete(key); // moves the record to the end
    this.#records.set(key, { kind, name, revision, document });
    return Promise.resolve(revision);
  }

  /** Forgets records that were removed at least {@link TOMBSTONE_AGE} ago; sessions, {@link SESSION_TIME}. */
  sweep(now: number): void {
    for (const [key, { kind, document, revision }] of this.#records) {
      const age = kind === 'session' ? SESSION_TIME : TOMBSTONE_AGE;
      if (document === undefined && revision <= now - age) this.#records.delete(key);
    }
  }
}
