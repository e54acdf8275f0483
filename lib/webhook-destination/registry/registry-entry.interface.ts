import type { DestinationOptions } from '../dispatch/destination.options.js';
import type { SourceOptions } from '../ingest/source.options.js';

/** Where an entry comes from: the module's options, the queue's store, or the application's own registry. */
export type EntryOrigin = 'fixed' | 'store' | 'application';

/** What sources and destinations have in common. */
interface Entry {
  /** Only an entry of the store can be changed. */
  origin: EntryOrigin;
  /** When it was created, in ms since the epoch; entries of the store only. */
  createdAt?: number;
  /** When it was last changed, in ms since the epoch; entries of the store only. */
  updatedAt?: number;
  /** Why this process does not use it, or not in this form: the rule that it breaks here. */
  fault?: string;
}

/** A source, without its key. */
export interface SourceEntry extends Omit<SourceOptions, 'writeKey'>, Entry {
  /** Until when the key before the last rotation is valid as well, in ms since the epoch. */
  previousKeyUntil?: number;
}

/** A destination, without secrets, header values, and the user info and query of its URLs. */
export interface DestinationEntry extends Omit<DestinationOptions, 'headers' | 'sharedSecret' | 'transform'>, Entry {
  /** Names of the headers that are added to every request. */
  headers: string[];
  /** Whether requests are signed. */
  signed: boolean;
  /** Whether a `transform` makes its bodies. */
  transformed: boolean;
  /** Until when requests are signed with the secret before the last rotation as well, in ms since the epoch. */
  previousSecretUntil?: number;
  /** Whether its messages are queued and not sent. */
  paused: boolean;
}

/** A new source, or one with a new key. */
export interface CreatedSource extends SourceEntry {
  /** The generated key, which is never shown again; absent where the application gave one. */
  writeKey?: string;
}

/** A new destination, or one with a new secret. */
export interface CreatedDestination extends DestinationEntry {
  /** The generated secret, which is never shown again; absent where the application gave one. */
  sharedSecret?: string;
}

/** Selects entries, in the order of their names. */
export interface EntryQuery {
  /** Those that have all of these in their `metadata`. */
  metadata?: Record<string, string>;
  /**
   * Maximum number of entries.
   * @default 100
   */
  limit?: number;
  /** Name of the last entry of the previous page. */
  after?: string;
}
