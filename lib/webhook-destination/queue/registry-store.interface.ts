import type { Observable } from 'rxjs';

export type RegistryKind = 'source' | 'destination';

/** A source or a destination, as it is kept beside the deliveries. */
export interface RegistryRecord {
  kind: RegistryKind;
  /** Unique within its kind. */
  name: string;
  /**
   * Above that of every change made before, of whichever record, and at least the time of the change, in ms since the
   * epoch: a store that lost changes, by a failover or as it was restored, gives no revision a second time.
   */
  revision: number;
  /** Text that the registry alone understands; undefined where the record was removed. */
  document: string | undefined;
}

/** How long a removed record keeps its name and revision, in ms: 30 days, so every process learns of the removal. */
export const TOMBSTONE_AGE = 30 * 24 * 60 * 60 * 1_000;

/** The revision of a change that follows another one. */
export function nextRevision(last: number): number {
  return Math.max(last + 1, Date.now());
}

/**
 * Where an engine keeps sources and destinations that change while the application runs.
 * A removed record leaves its name and revision for {@link TOMBSTONE_AGE} at least; a sweep of the queue ends it.
 */
export interface RegistryStore {
  /** The records that changed after a revision, the oldest change first; all of them after 0. */
  read(after: number): Promise<RegistryRecord[]>;
  /**
   * Puts a record, or removes it where `document` is undefined, if its revision is still `expected`: 0 where there is
   * none, or it was removed. Resolves, once that is durable, with its new revision; with undefined, and nothing changed,
   * when somebody else changed it meanwhile.
   */
  write(record: Omit<RegistryRecord, 'revision'>, expected: number): Promise<number | undefined>;
  /**
   * Emits once changes of other processes are heard of, and when one may have changed something; absent where this
   * process alone has the store.
   */
  readonly changed$?: Observable<void>;
}
