import type { DestinationOptions } from '../dispatch/destination.options.js';
import type { Disablement } from '../dispatch/pause.util.js';
import type { SourceOptions } from '../ingest/source.options.js';

/** Where an entry comes from: the module's options, the queue's store, or the application's own registry. */
export type EntryOrigin = 'fixed' | 'store' | 'application';

/** Fields that sources and destinations share. */
interface Entry {
  /** Where the entry is declared; only entries of the store can be changed. */
  origin: EntryOrigin;
  /** When the entry was created, in ms since the epoch; entries of the store only. */
  createdAt?: number;
  /** When the entry was last changed, in ms since the epoch; entries of the store only. */
  updatedAt?: number;
  /** The rule that the entry breaks in this process, which therefore ignores it or keeps its last valid form. */
  fault?: string;
}

/** A source without its write key. */
export interface SourceEntry extends Omit<SourceOptions, 'writeKey'>, Entry {
  /** Until when the previous write key is also valid, in ms since the epoch. */
  previousKeyUntil?: number;
}

/** A destination without its secrets, its header values, and the user info, query and tokens of its URLs. */
export interface DestinationEntry extends Omit<DestinationOptions, 'headers' | 'sharedSecret' | 'transform'>, Entry {
  /** Names of the headers added to every request. */
  headers: string[];
  /** Whether requests are signed. */
  signed: boolean;
  /** Under which receivers verify the requests, `whpk_...`; present if the secret is a private key, `whsk_...`. */
  publicKey?: string;
  /** Whether a `transform` replaces the bodies. */
  transformed: boolean;
  /** Until when requests are also signed with the previous secret, in ms since the epoch. */
  previousSecretUntil?: number;
  /** Whether its messages are queued but not sent. */
  paused: boolean;
  /**
   * Time of the first failure since the last success, in ms since the epoch; only of an endpoint that has failed for a
   * minute or longer.
   * @see docs/portal.md, "Life of an endpoint"
   */
  failingSince?: number;
  /** Set while an endpoint is disabled: its deliveries become dead without an attempt. */
  disabled?: Disablement;
  /** The tenant that it belongs to, with the option `portal`: its portal shows it. */
  tenant?: string;
}

/** A new source, or one with a new write key. */
export interface CreatedSource extends SourceEntry {
  /** The generated write key, which is never shown again; absent if the application gave one. */
  writeKey?: string;
}

/** A new destination, or one with a new secret. */
export interface CreatedDestination extends DestinationEntry {
  /**
   * The generated secret, which is never shown again; absent if the application gave one, and for a private key, which
   * only the relay needs.
   */
  sharedSecret?: string;
}

/** Selects entries, sorted by name. */
export interface EntryQuery {
  /** Selects entries whose name contains this text, whatever its case. */
  name?: string;
  /** Selects entries whose `metadata` contains all of these pairs. */
  metadata?: Record<string, string>;
  /**
   * Maximum number of entries.
   * @default 100
   */
  limit?: number;
  /** Name of the last entry of the previous page. */
  after?: string;
}
