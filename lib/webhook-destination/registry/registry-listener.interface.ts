import type { DestinationOptions } from '../dispatch/destination.options.js';
import type { SourceOptions } from '../ingest/source.options.js';
import type { Pause } from '../dispatch/pause.util.js';

/** A source, as the relay's steps see it. */
export interface LiveSource extends SourceOptions {
  /** The key before the last rotation, while both are valid. */
  previousKey?: string;
}

/** A destination, as the relay's steps see it: with its defaults, and both secrets while both are valid. */
export type LiveDestination = DestinationOptions & {
  /** The oldest first; the last one may be open. */
  pauses: Pause[];
};

/**
 * The relay's steps, as the registry changes them. A `put` replaces what has the same name. A `remove` may concern what was
 * never put: at start, what was removed in the last 30 days, as a process that ended may have left deliveries of it.
 */
export interface RegistryListener {
  putSource(source: LiveSource): void;
  removeSource(name: string): void;
  putDestination(destination: LiveDestination): void;
  removeDestination(name: string): void;
}
