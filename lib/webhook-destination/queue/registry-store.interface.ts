import type { Observable } from 'rxjs';

export type RegistryKind = 'source' | 'destination';

/** Kind of a record: an entry of the registry, or a session of the admin API or a revocation of the portal's links. */
export type RecordKind = RegistryKind | 'session';

/** A source, a destination or a session, stored beside the deliveries. */
export interface RegistryRecord<K extends RecordKind = RecordKind> {
  kind: K;
  /** Unique within its kind. */
  name: string;
  /**
   * Greater than the revision of every earlier change to any record, and at least the time of the change in ms since
   * the epoch: a store that lost changes in a failover or a restore never issues the same revision twice.
   */
  revision: number;
  /** Text in a format of the kind; undefined if the record was removed. */
  document: string | undefined;
}

/** How long a removed record keeps its name and revision, in ms: 30 days, so every process learns of the removal. */
export const TOMBSTONE_AGE = 30 * 24 * 60 * 60 * 1_000;

/** Longest lifetime of a session, in ms: 12 h. A removed session keeps its name and revision as long. */
export const SESSION_TIME = 12 * 60 * 60 * 1_000;

/** How the name of a session record begins that is a revocation of the portal's links. */
export const REVOCATION_START = 'portal ';

/** Returns the revision for the change after revision `last`. */
export function nextRevision(last: number): number {
  return Math.max(last + 1, Date.now());
}

/**
 * Stores sources and destinations that change while the application runs, and the sessions of the admin API.
 * The name and revision of a removed record stay for at least {@link TOMBSTONE_AGE}, those of a session for
 * {@link SESSION_TIME}, until a sweep of the queue. The bytes of a replaced or removed document of the registry leave the
 * files of the store at the next sweep.
 */
export interface RegistryStore {
  /** Returns the records changed after a revision, oldest change first; 0 returns all records. */
  read(after: number): Promise<RegistryRecord[]>;
  /**
   * Writes a record, or removes it if `document` is undefined, provided its revision is still `expected` (0 for a
   * missing or removed record). Resolves with the new revision once the change is durable, or with undefined, changing
   * nothing, if the record was changed meanwhile.
   */
  write(record: Omit<RegistryRecord, 'revision'>, expected: number): Promise<number | undefined>;
  /**
   * Emits once it listens for changes by other processes, and whenever one may have made a change; absent if no other
   * process uses the store.
   */
  readonly changed$?: Observable<void>;
}
